"""Ranks documents with both of Cohere's clients, and prints what they give back as JSON."""

import json
import sys

import cohere
from cohere.core.api_error import ApiError

origin, what = sys.argv[1], sys.argv[2]
QUERY = "Where is Paris?"
DOCUMENTS = ["Lyon is old.", "Paris is in France.", "Rome."]
clients = {
    "v2": cohere.ClientV2(api_key="sk-pro", base_url=origin),
    "v1": cohere.Client(api_key="sk-pro", base_url=origin),
}


def ranked():
    v2 = clients["v2"].rerank(model="acme/rerank", query=QUERY, documents=DOCUMENTS)
    v1 = clients["v1"].rerank(
        model="acme/rerank",
        query=QUERY,
        documents=[{"text": text} for text in DOCUMENTS],
        top_n=2,
        return_documents=True,
    )
    return {
        "v2": [[each.index, each.relevance_score] for each in v2.results],
        "units": v2.meta.billed_units.search_units,
        "v1": [[each.index, each.relevance_score, each.document.text] for each in v1.results],
    }


def errors():
    def refused(client, **members):
        asked = {"model": "acme/rerank", "query": QUERY, "documents": DOCUMENTS, **members}
        try:
            client.rerank(**asked, request_options={"max_retries": 0})
        except ApiError as error:
            return [type(error).__name__, error.status_code, error.body["message"]]
        return None

    return {name: [refused(client), refused(client, model="acme/none")] for name, client in clients.items()}


print(json.dumps({"ranked": ranked, "errors": errors}[what]()))
