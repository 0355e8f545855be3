"""Group texts and sounds: any data with vectors, here made with scikit-learn and NumPy."""

import tempfile
from pathlib import Path

import numpy as np
from sklearn.decomposition import TruncatedSVD
from sklearn.feature_extraction.text import TfidfVectorizer

from likewise import LabelOracle, Likewise
from likewise.metrics import accuracy

rng = np.random.default_rng(0)

# Texts: the same sentences can be grouped by topic or by tone. Any model that returns one vector
# per text takes the place of these two lines, such as a sentence transformer.
TOPICS = {"food": ["soup", "bread", "dinner", "salad"], "travel": ["train", "flight", "hotel"]}
TONES = {"happy": ["great", "lovely", "perfect"], "angry": ["awful", "late", "broken"]}
rows = [
    (topic, tone, f"the {rng.choice(TOPICS[topic])} was {rng.choice(TONES[tone])}, {word}")
    for topic in TOPICS
    for tone in TONES
    for word in rng.choice([*TOPICS[topic], *TONES[tone]], size=40)
]
topics, tones, texts = zip(*rows, strict=True)
text_vectors = TruncatedSVD(12, random_state=0).fit_transform(
    TfidfVectorizer().fit_transform(texts)
)

# Sounds: mean spectrum of a quarter of a second of two instruments at several pitches.
time = np.arange(4_000) / 16_000
instruments = np.repeat(["flute", "trumpet"], 60)
pitches = rng.uniform(200, 400, len(instruments))
overtones = {"flute": [1, 0.1], "trumpet": [1, 0.8, 0.6, 0.5, 0.4]}
sounds = [
    sum(
        level * np.sin(2 * np.pi * pitch * (n + 1) * time)
        for n, level in enumerate(overtones[instrument])
    )
    + rng.normal(0, 0.1, len(time))
    for instrument, pitch in zip(instruments, pitches, strict=True)
]
spectra = np.log1p(np.abs(np.fft.rfft(sounds, axis=1)))
sound_vectors = spectra[:, : 64 * 31].reshape(len(sounds), 64, 31).mean(axis=2)

with tempfile.TemporaryDirectory() as folder:
    for name, vectors, labels in (
        ("texts by topic", text_vectors, topics),
        ("texts by tone", text_vectors, tones),
        ("sounds by instrument", sound_vectors, instruments),
    ):
        file = Path(folder) / "vectors.npy"  # or a Parquet file with a column of lists
        np.save(file, vectors.astype(np.float32))
        truth = np.unique(labels, return_inverse=True)[1]
        model = Likewise(2, random_state=0).fit(file, oracle=LabelOracle(truth), n_questions=20)
        print(f"{name}: accuracy {accuracy(truth, model.labels_):.2f} after 20 answers")
