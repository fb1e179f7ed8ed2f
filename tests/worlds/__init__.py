"""Random worlds of policies and readers, compared with an independent model.

`shapes` says what a world is and `generate` makes one from a seed; `model` says who may read
what in it, without a line of the product; `build` writes it into the database; `doors` asks as
its readers and finds every word that comes back; `compare` counts and names the differences.
`changes` moves a world on, in the database and in the model alike.

Every chunk, heading, title, slug, contact and file name of a world holds a word of its own
(`shapes.WORD`), so what a response tells is the set of the words in it.

By hand: `python -m tests.worlds --worlds 200 --seed 7`.
"""
