"""The embedding model: the real weights, and a tiny model made here where theirs won't do."""

import json
import os
import shutil
import socket
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from django.core.management import CommandError, call_command
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from documents import embedding
from documents.embedding import export, onnx_backend, tokens, torch_backend, torch_export
from documents.embedding import model as models
from documents.embedding.vectors import unit_rows
from documents.errors import EmbeddingError

ROOT = Path(__file__).resolve().parents[2]
LEAVE = "Employees are entitled to 25 days of paid annual leave in each calendar year."
TEXTS = [
    LEAVE,
    "VPN",
    "A claim over NT$1,800 (see § 12 and ISO 27001) needs the approval of two managers; "
    "below it, one is enough. Receipts are kept for seven years and shown on request.",
    "Naïve café résumés — “quoted” … and an emoji 🎉",
    "第五十三條 員工應於七日內提出申請。",
    "The retention period is three years. " * 30,
]


@pytest.fixture
def tiny(tmp_path: Path) -> Path:
    return make_model(tmp_path / "tiny")


@pytest.fixture(scope="session")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with a tiny model and its export, which takes seconds to make."""
    folder = tmp_path_factory.mktemp("exported")
    torch_export.write_onnx(make_model(folder / "tiny"), folder / "tiny.onnx")
    return folder


@pytest.fixture
def runs(exported: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """Spare the exporter's process: its file is copied. Returns what was asked of it."""
    asked: list[Path] = []

    def copy(source: Path, target: Path) -> None:
        asked.append(source)
        shutil.copy(exported / "tiny.onnx", target)

    monkeypatch.setattr(export, "_run_exporter", copy)
    return asked


@pytest.fixture
def use(settings: Any, tmp_path: Path) -> Any:
    def name_in_settings(folder: Path, **others: object) -> None:
        settings.EMBEDDING_MODEL = str(folder)
        settings.EMBEDDING_MODEL_SHA256 = None
        settings.MODEL_CACHE_DIR = tmp_path / "cache"
        for name, value in others.items():
            setattr(settings, name, value)

    return name_in_settings


def make_model(folder: Path, *, pooling: str = "mean_tokens", fill: float | None = None) -> Path:
    """Write a working BERT of one layer and 16 dimensions that lists German and Chinese."""
    import torch
    from tokenizers import Tokenizer, models, normalizers, pre_tokenizers, processors
    from transformers import BertConfig, BertModel

    words = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "urlaub", "tage", "regel", "ask", ":"]
    torch.manual_seed(1)
    network = BertModel(
        BertConfig(
            vocab_size=len(words),
            hidden_size=16,
            num_hidden_layers=1,
            num_attention_heads=2,
            intermediate_size=32,
            max_position_embeddings=16,
        )
    )
    if fill is not None:
        for weight in network.encoder.parameters():
            torch.nn.init.constant_(weight, fill)
    network.save_pretrained(folder)
    tokenizer = Tokenizer(models.WordLevel({w: i for i, w in enumerate(words)}, "[UNK]"))
    tokenizer.normalizer = normalizers.Lowercase()
    tokenizer.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokenizer.post_processor = processors.BertProcessing(("[SEP]", 3), ("[CLS]", 2))
    tokenizer.save(str(folder / "tokenizer.json"))
    kind = "sentence_transformers.models."
    modules = [
        {"idx": 0, "name": "0", "path": "", "type": f"{kind}Transformer"},
        {"idx": 1, "name": "1", "path": "1_Pooling", "type": f"{kind}Pooling"},
    ]
    modes = dict.fromkeys(["cls_token", "mean_tokens", "max_tokens"], False) | {pooling: True}
    pooled = {f"pooling_mode_{mode}": is_on for mode, is_on in modes.items()}
    (folder / "1_Pooling").mkdir()
    for name, content in {
        "modules.json": modules,
        "sentence_bert_config.json": {"max_seq_length": 10, "do_lower_case": False},
        "tokenizer_config.json": {"tokenizer_class": "PreTrainedTokenizerFast"},
        "1_Pooling/config.json": {"word_embedding_dimension": 16, **pooled},
        "config_sentence_transformers.json": {"prompts": {"query": "ask: "}},
    }.items():
        (folder / name).write_text(json.dumps(content))
    (folder / "README.md").write_text("---\nlanguage: [de, zh]\n---\n# A tiny model\n")
    return folder


class TestModel:
    def test_default_model_is_used_for_english_alone(self) -> None:
        spec = embedding.model_for("en-GB")

        assert spec is not None
        assert spec == embedding.model_for("en")
        assert (spec.id, spec.dimension, spec.max_tokens) == (models.BUNDLED_ID, 384, 256)
        assert spec.sha256.startswith(spec.revision)
        for other in ("zh-Hant", "zh-Hans", "de", "eng", "", None):
            assert embedding.model_for(other) is None

    def test_text_in_a_language_the_model_lacks_is_never_embedded(self) -> None:
        for encode in (
            lambda: embedding.encode_query("特休幾天？", "zh-Hant"),
            lambda: embedding.encode_passages([LEAVE], None),
            lambda: embedding.similarity("特休幾天？", [LEAVE], "zh-Hant"),
        ):
            with pytest.raises(EmbeddingError) as caught:
                encode()
            assert caught.value.code == "unsupported_language"

    def test_another_model_speaks_what_its_card_lists(self, tiny: Path, use: Any) -> None:
        use(tiny)

        spec = embedding.model_for("zh-Hant")

        assert spec is not None
        assert (spec.id, spec.dimension, spec.max_tokens) == ("tiny", 16, 10)
        assert spec.sha256 == models.file_sha256(tiny / "model.safetensors")
        assert embedding.model_for("en") is None

    def test_multilingual_card_admits_every_known_language(self, tiny: Path, use: Any) -> None:
        (tiny / "README.md").write_text("---\nlanguage: multilingual\n---\n")
        use(tiny)

        assert embedding.model_for("ja") is not None
        assert embedding.model_for(None) is None

    @pytest.mark.parametrize("card", ["", "# No front matter", "---\nlicense: mit\n---\n", None])
    def test_model_that_lists_no_language_says_so(
        self, tiny: Path, use: Any, card: str | None
    ) -> None:
        (tiny / "README.md").unlink() if card is None else (tiny / "README.md").write_text(card)
        use(tiny)

        with pytest.raises(EmbeddingError, match="lists no language"):
            embedding.model_for("en")

    def test_unknown_model_name_says_what_to_do_and_asks_no_network(
        self, use: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        refuse_connections(monkeypatch)
        use(Path("nobody/no-such-model"))

        with pytest.raises(EmbeddingError, match="hf download nobody/no-such-model"):
            embedding.model_for("en")

    def test_altered_weights_are_refused_before_they_are_loaded(self, tiny: Path, use: Any) -> None:
        use(tiny, EMBEDDING_MODEL_SHA256=models.BUNDLED_SHA256)

        with pytest.raises(EmbeddingError, match="not the expected ones"):
            embedding.encode_passages(["Urlaub"], "de")
        with pytest.raises(EmbeddingError, match="not the expected ones"):
            embedding.encode_query("Urlaub", "de")

    def test_weights_changed_in_place_are_noticed(self, tiny: Path) -> None:
        weights = tiny / "model.safetensors"
        before = models.file_sha256(weights)
        weights.write_bytes(weights.read_bytes()[:-1] + b"!")
        os.utime(weights, ns=(1, 1))

        assert models.file_sha256(weights) != before

    @pytest.mark.parametrize("name", ["config.json", "tokenizer.json", "model.safetensors"])
    def test_missing_file_is_named(self, tiny: Path, use: Any, name: str) -> None:
        (tiny / name).unlink()
        use(tiny)

        with pytest.raises(EmbeddingError, match=name):
            embedding.encode_passages(["Urlaub"], "de")

    def test_model_without_a_stated_window_is_refused(self, tiny: Path, use: Any) -> None:
        (tiny / "sentence_bert_config.json").unlink()
        config = json.loads((tiny / "config.json").read_text())
        del config["max_position_embeddings"]
        (tiny / "config.json").write_text(json.dumps(config))
        use(tiny)

        with pytest.raises(EmbeddingError, match="how many tokens"):
            embedding.model_for("de")


class TestTokens:
    def test_counts_by_hand(self) -> None:
        assert embedding.count_tokens("") == 0
        assert embedding.count_tokens("Hello, world") == 3
        assert embedding.count_tokens("第五條") == 3
        assert embedding.count_tokens("rule " * 1000) == 1000  # beyond any truncation

    def test_tokens_are_those_of_sentence_transformers(self) -> None:
        model = models.current()
        network = torch_backend.load(str(model.folder))
        for text in [*TEXTS[:5], "", "a\u200bb ﬁ ½ İ", "x" * 120, "[SEP] hi [CLS]", "\x00\x07"]:
            (window,) = tokens.windows(model, text)

            assert list(window.ids) == network.preprocess([text])["input_ids"][0].tolist()

    @hypothesis_settings(deadline=None)
    @given(st.lists(st.sampled_from(["leave", "非", "retention,", "x" * 30]), max_size=900))
    def test_windows_hold_every_token_and_none_is_too_long(self, words: list[str]) -> None:
        model = models.current()
        text = " ".join(words)

        found = tokens.windows(model, text)

        inner = [token for window in found for token in window.ids[1:-1]]
        assert len(inner) == embedding.count_tokens(text)
        assert all(len(window.ids) <= model.spec.max_tokens for window in found)
        assert all(window.ids[0] == 101 and window.ids[-1] == 102 for window in found)
        assert len(found) <= len(inner) // 200 + 1  # and not many more than needed

    def test_window_ends_between_words(self) -> None:
        model = models.current()
        whole = embedding.count_tokens("unconscionability")

        found = tokens.windows(model, "unconscionability " * 200)

        assert whole > 1
        assert {(len(window.ids) - 2) % whole for window in found} == {0}

    @pytest.mark.parametrize("line", ["員工" * 1_250_000, "word, " * 833_333, "a" * 5_000_000])
    def test_five_megabyte_line_is_counted_in_little_memory(self, line: str) -> None:
        pieces = list(tokens._pieces(line))

        assert "".join(pieces) == line
        assert max(map(len, pieces)) <= tokens.PIECE_CHARS
        assert all(piece[0] == " " for piece in pieces[1:]) == (" " in line)

    def test_long_line_counts_as_its_parts(self) -> None:
        assert embedding.count_tokens("word, " * 20_000) == 40_000


class TestVectors:
    def test_rows_have_length_one(self) -> None:
        rows = unit_rows(np.array([[3.0, 4.0], [0.0, 2.0]]), 2)

        assert rows.dtype == np.float32
        np.testing.assert_allclose(rows, [[0.6, 0.8], [0.0, 1.0]])

    @pytest.mark.parametrize(
        ("row", "message"),
        [
            ([0.0, 0.0], "zero"),
            ([np.nan, 1.0], "not a number"),
            ([np.inf, 1.0], "not a number"),
            ([1.0, 2.0, 3.0], r"not \(2,\)"),
        ],
    )
    def test_unusable_vector_is_refused(self, row: list[float], message: str) -> None:
        with pytest.raises(EmbeddingError, match=message):
            unit_rows(np.array([row]), 2)

    @pytest.mark.parametrize("fill", [float("nan"), 0.0])
    def test_model_that_gives_nothing_usable_is_refused(
        self, tmp_path: Path, use: Any, fill: float
    ) -> None:
        use(make_model(tmp_path / "broken", fill=fill))

        with pytest.raises(EmbeddingError, match="nothing was stored"):
            embedding.encode_passages(["Urlaub"], "de")


class TestEncode:
    def test_passages_are_unit_rows_in_their_order(self) -> None:
        rows = embedding.encode_passages(TEXTS[:3], "en")

        assert rows.dtype == np.float32
        assert rows.shape == (3, 384)
        np.testing.assert_allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-6)
        np.testing.assert_array_equal(rows[1], embedding.encode_passages([TEXTS[1]], "en")[0])

    def test_no_texts_give_no_rows(self) -> None:
        assert embedding.encode_passages([], "en").shape == (0, 384)
        assert embedding.similarity(LEAVE, [], "en") == []

    def test_short_text_has_the_vector_that_sentence_transformers_gives(self) -> None:
        network = torch_backend.load(str(models.current().folder))

        expected = network.encode(TEXTS[:5], show_progress_bar=False)

        ours = embedding.encode_passages(TEXTS[:5], "en")
        assert (ours * expected).sum(axis=1).min() >= 0.999999

    def test_question_and_passage_agree_across_backends(self) -> None:
        passages = embedding.encode_passages(TEXTS, "en")
        for text, passage in zip(TEXTS, passages, strict=True):
            question = embedding.encode_query(text, "en")

            assert question.shape == (384,)
            assert float(question @ passage) >= 0.9999

    @pytest.mark.parametrize("backend", ["torch", "onnx"])
    def test_passage_vector_depends_on_its_own_text_alone(
        self, settings: Any, backend: str
    ) -> None:
        settings.EMBEDDING_BACKEND = backend
        beside_others = embedding.encode_passages(TEXTS, "en")

        alone = [embedding.encode_passages([text], "en")[0] for text in TEXTS]

        np.testing.assert_array_equal(beside_others, np.array(alone))  # to the last bit

    def test_end_of_a_long_text_counts(self) -> None:
        filler = "The office opens at nine and closes at six. " * 60
        with_rule, without = embedding.encode_passages([filler + LEAVE * 5, filler], "en")
        question = embedding.encode_query("How many days of annual leave do I get?", "en")

        assert question @ with_rule > question @ without + 0.05

    def test_backend_setting_decides_what_is_loaded(self) -> None:
        loaded = run_python(
            "from documents import embedding\n"
            "embedding.encode_query('leave', 'en')\n"
            "embedding.encode_passages(['leave'], 'en')\n"
            "print('torch' in sys.modules, 'onnxruntime' in sys.modules)",
            LEGALQA_EMBEDDING_BACKEND="onnx",
        )

        assert loaded.split() == ["False", "True"]

    def test_torch_backend_answers_questions_without_an_export(self, tiny: Path, use: Any) -> None:
        use(tiny, EMBEDDING_BACKEND="torch")
        embedding.warm_up()

        (same,) = embedding.similarity("Urlaub", ["ask: Urlaub"], "de")

        assert same == pytest.approx(1, abs=1e-6)  # the card's words stand before a question
        assert not (tiny.parent / "cache").exists()

    def test_remembered_question_cannot_be_spoiled(self) -> None:
        first = embedding.encode_query("How many days?", "en")
        first[:] = 0

        assert np.linalg.norm(embedding.encode_query("How many days?", "en")) > 0.99

    def test_similarity_ranks_the_sentence_that_answers_first(self) -> None:
        sentences = ["The VPN must be used abroad.", LEAVE, "Laptops are renewed every 4 years."]

        scores = embedding.similarity("How many days of annual leave?", sentences, "en")

        assert max(scores) == scores[1]
        assert all(-1 <= score <= 1 for score in scores)
        apart = [
            embedding.similarity("How many days of annual leave?", [s], "en")[0] for s in sentences
        ]
        assert scores == pytest.approx(apart, abs=1e-5)

    def test_loading_asks_no_network(
        self, tiny: Path, use: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        refuse_connections(monkeypatch)
        use(tiny)

        assert embedding.encode_passages(["Urlaub"], "de").shape == (1, 16)


class TestProcesses:
    def test_nothing_heavy_is_imported_with_django(self) -> None:
        loaded = run_python(
            "from documents import embedding\n"
            "print({'torch', 'onnxruntime', 'transformers', 'sentence_transformers', 'onnx',"
            " 'huggingface_hub'} & set(sys.modules))"
        )

        assert loaded.strip() == "set()"

    def test_forked_worker_loads_a_session_of_its_own(self) -> None:
        said = run_python(
            "from documents import embedding\n"
            "import os\n"
            "embedding.warm_up()\n"
            "child = os.fork()\n"
            "if child == 0:\n"
            "    rows = embedding.similarity('leave', ['leave', 'VPN'] * 8, 'en')\n"
            "    os._exit(0 if rows[0] > 0.99 else 1)\n"
            "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))"
        )

        assert said.strip() == "0"


class TestExport:
    def test_exported_model_agrees_with_torch_at_any_size(self, exported: Path) -> None:
        import onnxruntime
        import torch

        session = onnxruntime.InferenceSession(str(exported / "tiny.onnx"))
        network = torch_backend.load(str(exported / "tiny"))
        for batch, length in ((1, 2), (1, 10), (5, 7)):
            ids = np.full((batch, length), 4, dtype=np.int64)
            given_ids = {"input_ids": ids, "attention_mask": np.ones_like(ids)}
            with torch.inference_mode():
                expected = network[0]({k: torch.tensor(v) for k, v in given_ids.items()})
            np.testing.assert_allclose(
                session.run(None, given_ids)[0], expected["token_embeddings"], atol=1e-5
            )

    @pytest.mark.timeout(600)  # a busy machine takes minutes for the real exporter
    def test_two_set_ups_at_once_export_once(self, tiny: Path, tmp_path: Path) -> None:
        command = [sys.executable, "manage.py", "export_model", "-v2"]
        surroundings = os.environ | {
            "LEGALQA_EMBEDDING_MODEL": str(tiny),
            "LEGALQA_MODEL_CACHE_DIR": str(tmp_path / "cache"),
        }
        both = [
            subprocess.Popen(command, cwd=ROOT, env=surroundings, stdout=subprocess.PIPE, text=True)
            for _ in range(2)
        ]
        said = {process.communicate(timeout=550)[0] for process in both}

        assert [process.returncode for process in both] == [0, 0]
        (path,) = (Path(line.strip()) for line in said)
        left = sorted(found.name for found in path.parent.iterdir())
        assert left == [".lock", "manifest.json", "model.onnx"]

    def test_first_question_exports_and_a_second_finds_the_file(
        self, exported: Path, use: Any, runs: list[Path]
    ) -> None:
        use(exported / "tiny")
        passage = embedding.encode_passages(["ask: Urlaub Tage"], "de")[0]

        question = embedding.encode_query("Urlaub Tage", "de")
        embedding.encode_query("Urlaub Regel", "de")
        call_command("export_model", verbosity=0)

        assert float(question @ passage) >= 0.9999
        assert len(runs) == 1

    @pytest.mark.parametrize("name", ["model.onnx", "manifest.json"])
    def test_damaged_export_is_made_again(
        self, exported: Path, use: Any, tmp_path: Path, runs: list[Path], name: str
    ) -> None:
        use(exported / "tiny")
        path = embedding.export_onnx(tmp_path / "cache")
        damaged = path.parent / name
        whole = damaged.read_bytes()
        damaged.write_bytes(whole[:100])  # as after a full disk
        (path.parent / ".export-abandoned").mkdir()  # as after kill -9

        embedding.export_onnx(tmp_path / "cache")

        assert damaged.read_bytes() == whole
        assert not list(path.parent.glob(".export-*"))
        assert len(runs) == 2

    def test_first_token_pooling_is_followed(
        self, tmp_path: Path, use: Any, runs: list[Path]
    ) -> None:
        use(make_model(tmp_path / "first", pooling="cls_token"))
        first = embedding.encode_passages(["ask: Regel Tage"], "de")[0]
        use(make_model(tmp_path / "mean"))
        mean = embedding.encode_passages(["ask: Regel Tage"], "de")[0]
        use(tmp_path / "first")

        question = embedding.encode_query("Regel Tage", "de")

        assert float(question @ first) >= 0.9999
        assert float(question @ mean) < 0.9999
        assert len(runs) == 1

    def test_other_pooling_is_refused_with_the_way_out(self, tmp_path: Path) -> None:
        folder = make_model(tmp_path / "max", pooling="max_tokens")

        with pytest.raises(EmbeddingError, match="LEGALQA_EMBEDDING_BACKEND=torch"):
            onnx_backend._pools_first_token(folder)

    def test_failed_export_leaves_nothing_and_says_so(
        self, tiny: Path, use: Any, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        use(tiny)
        monkeypatch.setattr(sys, "executable", shutil.which("false"))

        with pytest.raises(CommandError, match="LEGALQA_EMBEDDING_BACKEND=torch"):
            call_command("export_model")
        (folder,) = (tiny.parent / "cache").iterdir()
        assert [path.name for path in folder.iterdir()] == [".lock"]

    def test_cache_that_cannot_be_written_is_named(self, tiny: Path, use: Any) -> None:
        use(tiny, MODEL_CACHE_DIR=tiny / "config.json")

        with pytest.raises(EmbeddingError, match="LEGALQA_MODEL_CACHE_DIR"):
            embedding.encode_query("Urlaub", "de")

    def test_file_that_is_no_model_says_what_to_delete(self, tiny: Path, use: Any) -> None:
        use(tiny)
        folder = tiny.parent / "cache" / f"tiny-{models.current().spec.revision}"
        folder.mkdir(parents=True)
        shutil.copy(tiny / "config.json", folder / "model.onnx")
        (folder / "manifest.json").write_text(
            json.dumps(
                {
                    "format": 1,
                    "weights_sha256": models.current().spec.sha256,
                    "onnx_sha256": models.file_sha256(folder / "model.onnx"),
                }
            )
        )

        with pytest.raises(EmbeddingError, match=f"delete {folder.name}"):
            embedding.encode_query("Urlaub", "de")


def refuse_connections(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(self: socket.socket, address: object) -> None:
        pytest.fail(f"connected to {address}")

    monkeypatch.setattr(socket.socket, "connect", refuse)


def run_python(code: str, **surroundings: str) -> str:
    """Run `code` in a Python of its own, with Django set up."""
    prelude = "import sys, django\ndjango.setup()\n"
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", prelude + code],
        cwd=ROOT,
        env=os.environ | {"DJANGO_SETTINGS_MODULE": "legalqa.settings"} | surroundings,
        capture_output=True,
        text=True,
        timeout=250,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    return done.stdout
