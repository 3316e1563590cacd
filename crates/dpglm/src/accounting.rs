//! How the promise is computed: from events to (epsilon, delta) and back.
