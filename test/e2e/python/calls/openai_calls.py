"""Calls every operation with OpenAI's client, and prints what it gives back as JSON."""

import asyncio
import io
import json
import sys

from openai import APIStatusError, AsyncOpenAI, OpenAI

base_url, what = sys.argv[1], sys.argv[2]
client = OpenAI(base_url=base_url, api_key="sk-pro", max_retries=0)

WAV = b"RIFF\x24\x00\x00\x00WAVEfmt " + bytes(3000)
PNG = b"\x89PNG\r\n\x1a\n--" + bytes(100)
HELLO = [{"role": "user", "content": "Hello!"}]


def sound():
    return ("talk.wav", io.BytesIO(WAV))


def picture(name):
    return (name, io.BytesIO(PNG), "image/png")


def whole():
    chat = client.chat.completions.create(model="acme/small", messages=HELLO)
    embeddings = client.embeddings.create(model="acme/embed", input=["one", "two"])
    completion = client.completions.create(model="acme/base", prompt=["Once", "Twice"], n=2, max_tokens=5)
    moderation = client.moderations.create(input=["I will kill", "Hello"])
    image = client.images.generate(model="acme/image", prompt="A hat", n=2, size="1024x1024")
    edited = client.images.edit(
        model="acme/image", prompt="A hat", image=[picture("a.png"), picture("b.png")], mask=picture("m.png")
    )
    transcript = client.audio.transcriptions.create(
        model="acme/hear",
        file=sound(),
        response_format="verbose_json",
        timestamp_granularities=["word", "segment"],
        include=["logprobs"],
    )
    subtitles = client.audio.transcriptions.create(model="acme/hear", file=sound(), response_format="srt")
    translation = client.audio.translations.create(model="acme/hear", file=sound())
    speech = client.audio.speech.create(model="acme/voice", voice="alloy", input="Hello there.")
    return {
        "chat": chat.choices[0].message.content,
        "vectors": [each.embedding for each in embeddings.data],
        "completions": [[choice.index, choice.text] for choice in completion.choices],
        "moderation": [moderation.model, [each.flagged for each in moderation.results]],
        "images": [each.b64_json for each in image.data],
        "imageUsage": image.usage.model_dump(exclude_none=True),
        "edited": len(edited.data),
        "transcript": [transcript.text, transcript.duration, transcript.segments[0].end],
        "subtitles": subtitles,
        "translation": translation.text,
        "speech": [len(speech.content), speech.response.headers["content-type"]],
    }


def streams():
    chat = client.chat.completions.create(
        model="acme/small", messages=HELLO, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(chat)
    images = list(client.images.generate(model="acme/image", prompt="A hat", stream=True, partial_images=1))
    edits = list(client.images.edit(model="acme/image", prompt="A hat", image=picture("a.png"), stream=True))
    heard = list(client.audio.transcriptions.create(model="acme/hear", file=sound(), stream=True))
    with client.audio.speech.with_streaming_response.create(
        model="acme/voice", voice="alloy", input="Hello there."
    ) as response:
        spoken = sum(len(piece) for piece in response.iter_bytes(1000))
    return {
        "chat": "".join(choice.delta.content or "" for chunk in chunks for choice in chunk.choices),
        "usage": chunks[-1].usage.total_tokens,
        "images": [event.type for event in images],
        "edits": [event.type for event in edits],
        "heard": [event.type for event in heard],
        "text": heard[-1].text,
        "spoken": spoken,
    }


async def many():
    """Uploads at once, each large enough for several pieces."""
    async with AsyncOpenAI(base_url=base_url, api_key="sk-pro", max_retries=0) as each:
        calls = [
            each.audio.transcriptions.create(model="acme/hear", file=(f"{at}.wav", WAV + bytes(at * 300_000)))
            for at in range(4)
        ]
        return [transcript.text for transcript in await asyncio.gather(*calls)]


def errors():
    def refused(call):
        try:
            call()
        except APIStatusError as error:
            return [type(error).__name__, error.status_code, error.code, error.param]
        return None

    other = OpenAI(base_url=base_url, api_key="sk-none", max_retries=0)
    return {
        "key": refused(lambda: other.models.list()),
        "model": refused(lambda: client.audio.transcriptions.create(model="acme/none", file=sound())),
        "type": refused(lambda: client.images.generate(model="acme/small", prompt="A hat")),
        "number": refused(lambda: client.images.edit(model="acme/image", prompt="A", image=picture("a"), n=99)),
        "empty": refused(lambda: client.audio.transcriptions.create(model="acme/hear", file=("a.wav", b""))),
        "voice": refused(lambda: client.audio.speech.create(model="acme/voice", voice="alloy", input="")),
        "batch": refused(lambda: client.batches.list()),
    }


def spent():
    """Until the credits are spent. The error says when there are more."""
    for calls in range(100):
        try:
            client.images.generate(model="acme/image", prompt="A hat")
        except APIStatusError as error:
            retry = int(error.response.headers["retry-after"])
            return {"calls": calls, "error": type(error).__name__, "code": error.code, "retry": retry}
    return None


def models():
    listed = [model.model_dump() for model in client.models.list()]
    return [[model["id"], model["name"], model.get("architecture", {}).get("output_modalities")] for model in listed]


calls = {"whole": whole, "streams": streams, "errors": errors, "spent": spent, "models": models}
print(json.dumps(asyncio.run(many()) if what == "many" else calls[what]()))
