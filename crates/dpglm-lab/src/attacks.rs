//! The attacks of C20 and C21: can it be told who was in the table?
