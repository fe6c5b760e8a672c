"""Reads pairs of texts as JSON, writes what Python's libraries give for every metric."""

import json
import sys
import warnings
from importlib.metadata import version

from nltk.translate.bleu_score import SmoothingFunction, sentence_bleu
from nltk.translate.gleu_score import sentence_gleu
from nltk.translate.meteor_score import single_meteor_score
from rapidfuzz import fuzz
from rouge_score import rouge_scorer
from sacrebleu.metrics import BLEU

warnings.simplefilter("ignore")

ROUGES = ["rouge1", "rouge2", "rouge3", "rouge4", "rouge5", "rougeL"]
rouge = rouge_scorer.RougeScorer(ROUGES, use_stemmer=False)
sacre = BLEU(effective_order=True)
method1 = SmoothingFunction().method1


class NoStemmer:
    def stem(self, word):
        return word


class NoSynonyms:
    def synsets(self, word):
        return []


def measure(hypothesis, reference):
    ours, theirs = hypothesis.split(), reference.split()
    rouges = rouge.score(reference, hypothesis)
    return {
        "fuzzy_match": fuzz.ratio(hypothesis, reference) / 100,
        "fuzzy_match:WRatio": fuzz.WRatio(hypothesis, reference) / 100,
        "bleu:nltk": float(sentence_bleu([theirs], ours)) if ours else 0.0,
        "bleu:nltk_method1": float(sentence_bleu([theirs], ours, smoothing_function=method1))
        if ours
        else 0.0,
        "bleu:sacrebleu": sacre.sentence_score(hypothesis, [reference]).score / 100,
        "gleu": float(sentence_gleu([theirs], ours)) if ours or theirs else 0.0,
        "meteor": single_meteor_score(
            theirs, ours, stemmer=NoStemmer(), wordnet=NoSynonyms()
        ),
        **{
            f"rouge_{name[5:].lower()}": rouges[name].fmeasure for name in ROUGES
        },
    }


pairs = json.load(sys.stdin)
packages = ["rapidfuzz", "nltk", "rouge-score", "sacrebleu"]
json.dump(
    {
        "versions": {name: version(name) for name in packages},
        "values": [measure(*pair) for pair in pairs],
    },
    sys.stdout,
)
