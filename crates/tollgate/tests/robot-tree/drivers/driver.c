int driver(int value);
int driver(int value)
{
	return value;
}
