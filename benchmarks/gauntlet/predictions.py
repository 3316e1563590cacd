"""Held-out loss of dpglm on random halves, without intervals and (for the leaderboards) with them."""

import time

from scores import loss
from store import signature
from subject import frame_of, schema_of, seed_of
from tasks import half


def measure(subject, task, epsilons, halves, store, intervals=None):
    kind = "half" if intervals is None else "half with intervals"
    name, mark, schema = task["name"], signature(task), schema_of(task)
    for repetition in range(halves):
        wanted = [epsilon for epsilon in epsilons if not store.get(kind, (name, repetition, epsilon), mark)]
        if not wanted:
            continue
        fitted, scored = half(task, repetition)
        rows, held_out = frame_of(task, fitted), frame_of(task, scored)
        for epsilon in wanted:
            started = time.perf_counter()
            seed = seed_of(kind, name, repetition, epsilon)
            model = subject.fit(task["family"], rows, schema, epsilon, 1 / (10 * len(fitted)), seed, intervals)
            seconds = round(time.perf_counter() - started, 3)
            if isinstance(model, str):
                store.put(kind, (name, repetition, epsilon), mark, refused=model)
                continue
            found = loss(task["family"], task["y"][scored], subject.predict(model, held_out))
            store.put(kind, (name, repetition, epsilon), mark, loss=found, seconds=seconds)
