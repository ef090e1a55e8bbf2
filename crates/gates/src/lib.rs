//! Object code: what opens and closes the gate to user memory, per architecture; functions by address.
