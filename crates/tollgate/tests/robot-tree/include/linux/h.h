#ifndef H_H
#define H_H
int exported(int value);
#define TWICE(x) ((x) + (x))
#endif
