"""Scores continuations as lm-evaluation-harness does, and prints the scores as JSON."""

import json
import logging
import sys

import tiktoken
from lm_eval.api.instance import Instance
from lm_eval.models.openai_completions import LocalCompletionsAPI

logging.disable(logging.WARNING)
base_url, options = sys.argv[1], json.loads(sys.argv[2])


class Scorer(LocalCompletionsAPI):
    """Its own tokenizers are downloaded. This one has a token for each byte, and the real encoder."""

    def __init__(self, **arguments):
        super().__init__(tokenizer_backend=None, **arguments)
        self.tokenizer = tiktoken.Encoding(
            "bytes",
            pat_str=r"[\s\S]",
            mergeable_ranks={bytes([byte]): byte for byte in range(256)},
            special_tokens={"<|endoftext|>": 256},
        )
        self.tokenizer_backend = "tiktoken"
        self.tokenized_requests = options.get("tokenized", True)

    @property
    def api_key(self):
        return "sk-pro"


model = Scorer(
    model="acme/base",
    base_url=f"{base_url}/completions",
    batch_size=options["batch"],
    num_concurrent=options["concurrent"],
    max_retries=1,
)


def instances(kind, pairs):
    return [
        Instance(request_type=kind, doc={}, arguments=pair, idx=at, metadata=("task", at, 1))
        for at, pair in enumerate(pairs)
    ]


scores = model.loglikelihood(instances("loglikelihood", [tuple(pair) for pair in options["pairs"]]), disable_tqdm=True)
texts = []
if "texts" in options:
    asked = [(text, {"until": ["\n"], "max_gen_toks": 8}) for text in options["texts"]]
    texts = model.generate_until(instances("generate_until", asked), disable_tqdm=True)
print(json.dumps({"scores": scores, "texts": texts}))
