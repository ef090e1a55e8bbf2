// Pairs of user accesses with no other call between them, as a semantic patch.
//
// spatch runs it in its search mode: each line that a '*' rule matches is
// printed as a removed line of a diff. One rule for accesses that one
// expression joins, one for accesses in statements of which one follows the
// other on some path.

@chain@
identifier f =~ "^(__)?(get|put)_user$";
identifier g =~ "^(__)?(get|put)_user$";
expression A, B;
@@
(
* \(A \& <+... f(...) ...+>\) || \(B \& <+... g(...) ...+>\)
|
* \(A \& <+... f(...) ...+>\) && \(B \& <+... g(...) ...+>\)
|
* \(A \& <+... f(...) ...+>\) | \(B \& <+... g(...) ...+>\)
)

@statements@
identifier f =~ "^(__)?(get|put)_user$";
identifier g =~ "^(__)?(get|put)_user$";
identifier h;
@@
* f(...)
  ... when != h(...)
* g(...)
