import { noteRefusal } from "../../errors/refusal.js";
import type { ByteAnswer } from "../../protocols/shared/stream-codec.js";
import { type PieceReader, type PieceSource, pieceSourceOf, readPiece } from "../../wire/piece-source.js";

/** Reads an upstream's bytes, and gives them to the client as they come: the next piece when the last one was taken. */
export class ByteChunks implements PieceReader {
  readonly #source: PieceSource;
  readonly #answer: Required<Pick<ByteAnswer, "take">>;
  readonly #reader: PieceReader;
  #isReading = false;
  #isAsked = false;
  /** How it ended; `undefined`: it has not. */
  #end: { readonly error?: unknown } | undefined;

  constructor(body: AsyncIterable<Uint8Array>, answer: Required<Pick<ByteAnswer, "take">>, reader: PieceReader) {
    this.#source = pieceSourceOf(body);
    this.#answer = answer;
    this.#reader = reader;
  }

  /** Requests the next piece. Call it again only after the reader has been called. */
  ask(): void {
    this.#isAsked = true;
    this.#go();
  }

  /** Stops reading and ignores what still arrives. */
  breakOff(error: unknown): void {
    if (this.#end !== undefined) return;
    this.#source.leave();
    this.#finish({ error });
  }

  /** Stops everything: `ask` is not called again. */
  stop(): void {
    this.#isAsked = false;
    if (this.#end !== undefined) return;
    this.#end = {};
    this.#source.leave();
  }

  took(bytes: Uint8Array): void {
    this.#isReading = false;
    if (this.#end !== undefined) return;
    const piece = this.#answer.take(bytes);
    if (piece === undefined || piece.length === 0) {
      this.#go();
      return;
    }
    this.#isAsked = false;
    this.#reader.took(piece);
  }

  ended(): void {
    this.#isReading = false;
    this.#finish({});
  }

  failed(error: unknown): void {
    this.#isReading = false;
    noteRefusal(error);
    this.#finish({ error });
  }

  #finish(end: { readonly error?: unknown }): void {
    this.#end ??= end;
    if (this.#isAsked) this.#notify();
  }

  #go(): void {
    if (this.#end !== undefined) {
      this.#notify();
      return;
    }
    if (this.#isReading) return;
    this.#isReading = true;
    try {
      this.#source[readPiece](this);
    } catch (error) {
      // A host's own provider may read its body, too.
      this.breakOff(error);
    }
  }

  #notify(): void {
    this.#isAsked = false;
    const end = this.#end;
    if (end !== undefined && "error" in end) this.#reader.failed(end.error);
    else this.#reader.ended();
  }
}
