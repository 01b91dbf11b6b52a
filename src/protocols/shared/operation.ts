import type { GatewayError } from "../../errors/gateway-error.js";
import type { Clock } from "../../ledger/calendar.js";
import type { CompiledPrice } from "../../prices/compiled-price.js";
import type { OperationName } from "../../prices/operation-name.js";
import type { ModelResponse } from "../../prices/progress.js";
import type { ImageCount, UsageCounts } from "../../prices/usage-counts.js";
import type { UpstreamSecrets } from "../../redaction/upstream-secrets.js";
import type { CallResponses } from "../../responses/response-store.js";
import type { PayloadSeal, ThoughtSeal } from "../../seal/payload-seal.js";
import type { ResolvedTokenBounds, Tokenizer } from "../../tokens/tokenizer.js";
import type { MemberEdits } from "../../wire/json-members.js";
import type { ClientProtocol } from "./client-protocol.js";
import type { Dialect, ModelDialect } from "./dialect.js";
import type { JsonRequest } from "./json-request.js";
import type { MemberRules } from "./member-rules.js";
import type { MissingCapabilities } from "./missing-capabilities.js";
import type { ModelType, PriceTerms } from "./model-type.js";
import type { PromptLayout } from "./prompt-layout.js";
import type { ProtocolTable } from "./protocol-table.js";
import type { RequestNames } from "./request-names.js";
import type { ResponseFormat } from "./response-format.js";
import type { ByteAnswer, StreamCodec } from "./stream-codec.js";

/** What a client can ask of a model. All that the gateway must know of it stands here, or follows from it. */
export interface Operation<Name extends OperationName = OperationName> extends BodyReader {
  readonly name: Name;
  /** Where clients call it. */
  readonly paths: readonly string[];
  /** The models that it is for. */
  readonly modelTypes: readonly ModelType[];
  /** What the prices of its models are for. */
  readonly priced: PriceTerms;
  readonly protocol: ClientProtocol;
  /** The members of its requests that the gateway reads or edits. */
  readonly names: RequestNames;
  /** What else its requests may hold; `undefined`: whatever is not restricted at every server. */
  readonly table: ProtocolTable | undefined;
  /** Where the texts stand that a model reads. */
  readonly prompt: PromptLayout;
  /** How its answers are read and refused; `undefined`: they hold no texts. */
  readonly answers: ResponseFormat | undefined;
}

/** A request's body: whole, or in the pieces in which it came. */
export type RequestBody = Uint8Array | readonly Uint8Array[];

/** How the bodies of an operation's requests are read: as {@link WholeBodies} or as {@link UploadedBodies}. */
interface BodyReader<Body extends RequestBody = RequestBody> {
  /** Bodies may be forms with files: they may be larger, take longer to come, and are parsed in pieces, never joined. */
  readonly takesUploads: Body extends Uint8Array ? false : true;
  /** @throws GatewayError 415 when a body of this content type is none that {@link parse} reads. */
  checkContentType(contentType: string | undefined): void;
  /**
   * Reads a body, in pieces where the operation {@link takesUploads}. A large one is read in slices, between which others
   * have their turn.
   * @throws GatewayError 400
   */
  parse(body: Body, services: OperationServices, facts: RequestFacts): ModelRequest | Promise<ModelRequest>;
}

export type WholeBodies = BodyReader<Uint8Array>;
export type UploadedBodies = BodyReader<readonly Uint8Array[]>;

/** What an operation may know of a request beside its body. */
export interface RequestFacts {
  readonly account: string;
  /** A header's value; names are in lower case. */
  header(name: string): string | undefined;
}

/** What operations work with: made once for a gateway. */
export interface OperationServices {
  /** How deep a body's JSON may be nested. */
  readonly maxBodyDepth: number;
  /** The largest body, in bytes, with all that it refers to in its place. */
  readonly maxBodyBytes: number;
  /** `undefined`: no responses are kept. */
  readonly responses: CallResponses | undefined;
  /** Signs the thoughts that clients keep. */
  readonly seal: PayloadSeal;
  /** Called for each value of `anthropic-beta` that is unknown, and so is left out. */
  readonly onUnknownBeta?: ((beta: string) => void) | undefined;
}

/** A request that was understood. It knows its own format, so nothing outside is generic in it. */
export interface ModelRequest {
  readonly model: string;
  /** The request names no model, and `model` is the one that it means. */
  readonly namesNoModel?: boolean;
  readonly stream: boolean;
  /** What it says as JSON, where its body is none: what hooks see of it. */
  readonly fields?: Uint8Array;
  /** The same request with these instead of its {@link fields}. @throws GatewayError 400 */
  readonly withFields?: (json: Uint8Array) => ModelRequest | Promise<ModelRequest>;
  /** Nothing sends it any more: what is large of it goes. Absent where nothing is. */
  readonly letGo?: (() => void) | undefined;
  /** Whether its client wants bytes as they come, such as sound. Absent: it does not. */
  readonly wantsBytes?: boolean;
  /**
   * Whether it asks for what is large beside its texts: images, vectors, the probabilities of tokens. A response that is
   * larger than is passed on is what it has asked for then, and is charged. Absent: the target has failed.
   */
  readonly asksForMuch?: boolean;
  /** What it says, as JSON. `undefined`: it is no whole, since it goes on from what is kept, or is itself kept. */
  readonly comparable: JsonRequest | undefined;
  /**
   * Puts in place what the request refers to. It is called once the call is allowed. Absent where the request is whole.
   * @throws GatewayError 400 where something of that is not kept, 503 when the store fails.
   */
  readonly complete?: ((room: LoadRoom) => Promise<ModelRequest>) | undefined;
  /**
   * What the request asks of a model.
   * @param defaultOutputTokens - the plan's output cap for a request that names none; `undefined`: it has none.
   * @throws GatewayError 400 when the model could not answer it.
   */
  demand(model: ModelTraits, defaultOutputTokens: number | undefined): Demand;
  /** Whether the request itself asks for reasoning. */
  asksToReason(): boolean;
  /**
   * A promise where much has to be translated, which is done in slices.
   * @returns `undefined` where the request cannot go to the target.
   */
  exchangeWith(
    target: TargetTraits,
    model: ModelTraits,
    attempt: AttemptFacts,
  ): Exchange | Promise<Exchange> | undefined;
}

/** Where what a request causes to be loaded finds room, as its own bytes did. */
export interface LoadRoom {
  /** The most bytes that may ever be there at once for the request's account. */
  readonly most: number;
  /** So many bytes are about to be loaded. @throws GatewayError 429 or 503 where there is no room for them. */
  take(bytes: number): void;
}

/** What a request asks of a model, at the most. */
export interface Demand {
  /** What is charged for the prompt where the upstream reports no usage: no more than fits into the model's context. */
  readonly promptTokens: number;
  /** The most that the prompt can cost. No upstream is sure to refuse what exceeds the context that the catalog says. */
  readonly heldPromptTokens: number;
  /**
   * What `heldPromptTokens` does not exceed, known without counting. `undefined`: nothing is, or it would not fit into the
   * model's context.
   */
  readonly promptBound: number | undefined;
  /** The most output that the call can cause, of all its answers together. It is held. */
  readonly outputTokens: number;
  /** The output cap that upstreams are sent, as the request names none and its plan does. */
  readonly addedCap: number | undefined;
  /**
   * What is no plain token, at the most: it is held, and charged where nobody has counted what the price is for. Of the
   * tokens, only those that stand for images and audio count. Absent: there are plain tokens alone.
   */
  readonly most?: UsageCounts | undefined;
  /**
   * What is charged for from the moment at which the upstream has the request, where nothing of its response is known.
   * Absent: {@link promptTokens}.
   */
  readonly chargedOnceSent?: UsageCounts | undefined;
}

/** A model, as far as requests depend on it. */
export interface ModelTraits {
  /** In the catalog: what it is counted, priced and limited by. */
  readonly id: string;
  /** The alias that the client called it by; absent: its id. */
  readonly alias?: string | undefined;
  readonly contextLength: number;
  readonly maxOutputTokens: number | undefined;
  /** Requests that certainly exceed {@link contextLength} are refused. */
  readonly enforcesContext: boolean;
  readonly tokenizer: Tokenizer | undefined;
  /** What its images, audio and files count at the most. */
  readonly tokenBounds: ResolvedTokenBounds;
  /** What is known of the images that it makes; absent: it makes none. */
  readonly images?: ImageTraits | undefined;
  /** What is known of the sound that it makes or hears; absent: none. */
  readonly audio?: AudioTraits | undefined;
  /** Whether audio in prompts and answers has a price of its own. Absent: it costs as a text. */
  readonly pricesAudio?: boolean | undefined;
  /** How it ranks documents; absent: it ranks none. */
  readonly rerank?: RerankTraits | undefined;
  /** What it cannot do; `undefined`: requests pass whatever they ask for. */
  readonly missing: MissingCapabilities | undefined;
  /** Whether it reasons: `capabilities` says so. What its responses do not show of that is charged by a bound. */
  readonly reasons: boolean;
  /** Whether some target speaks Messages and no chat completions: what other clients ask for is translated for it. */
  readonly translatesToMessages: boolean;
  /** What its targets do not let requests choose, each rule once. */
  readonly rules: readonly MemberRules[];
  /** Its targets' dialects, each once. */
  readonly dialects: readonly ModelDialect[];
}

/** What a model for sound makes or hears. */
export interface AudioTraits {
  /** Whether it is priced by tokens. */
  readonly byTokens: boolean;
  /** The longest audio of one request; absent: two hours. */
  readonly mostSeconds?: number | undefined;
  /** So many bytes of compressed audio are a second at least; absent: nothing is known. */
  readonly leastBytesPerSecond?: number | undefined;
}

/** What a model for images makes. */
export interface ImageTraits {
  /** The sizes that requests may ask for; `undefined`: any. */
  readonly sizes: readonly string[] | undefined;
  /** The most output tokens of such an image; `undefined`: it is not priced by them. */
  readonly tokensOf: ((image: Omit<ImageCount, "count">) => number) | undefined;
}

/** How a model ranks documents. */
export interface RerankTraits {
  readonly maxDocuments: number;
  /** The tokens of a piece of a document that its searches are counted by, with the query. */
  readonly chunkTokens: number;
}

/** A target, as far as requests and responses depend on it. */
export interface TargetTraits {
  /** The upstream's name for the model. */
  readonly upstreamModel: string;
  readonly operations: ReadonlySet<OperationName>;
  /** What its price is for. */
  readonly price: Pick<CompiledPrice, "pricesTokens" | "units">;
  /** What it does not let requests choose. */
  readonly rules: MemberRules;
  readonly dialect: Dialect | undefined;
  /** What must not get out of what the upstream says; read when there is an error. */
  readonly secrets: (() => UpstreamSecrets) | undefined;
}

/** What a response is written with, where the upstream leaves it out. */
export interface AttemptFacts {
  readonly requestId: string;
  /** Unique: what the ids of responses are made of. */
  readonly callId: string;
  /** What the prompt counts when the upstream does not say. */
  readonly promptTokens: number;
  /** The output cap of a request that names none; `undefined`: nothing is added to it. */
  readonly addedCap?: number | undefined;
  /** The most output tokens that the request and the model allow. */
  readonly outputCap: number;
  /** When the request was admitted, in epoch milliseconds. */
  readonly admittedAt: number;
  /** When the attempt began, in epoch milliseconds. */
  readonly startedAt: number;
  readonly clock: Clock;
}

/** The seal of what the account keeps of a target's thoughts. @param origin - the target's mark. */
export type SealOfTarget = (origin: string) => ThoughtSeal;

/** What an exchange is made for. */
export interface ExchangeFacts {
  readonly target: TargetTraits;
  readonly model: ModelTraits;
  readonly attempt: AttemptFacts;
}

/** One request and its response with one target. Made for each attempt: another target may speak another protocol. */
export interface Exchange {
  /** What the upstream is asked for. */
  readonly operation: OperationName;
  readonly body: Uint8Array;
  /** The same in pieces. Absent where it is no long text. */
  readonly pieces?: readonly Uint8Array[] | undefined;
  /** The body with some members changed, where it is no JSON. */
  bodyWith?(edits: MemberEdits): readonly Uint8Array[];
  /** Further headers for the upstream. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
  /** A promise where much has to be translated, which is done in slices. @throws GatewayError when it is no response to the request. */
  readWhole(bytes: Uint8Array): ModelResponse | Promise<ModelResponse>;
  /** Whether the size of a response says how many tokens it has. Absent: it does. */
  readonly bytesAreTokens?: boolean;
  /** What was seen of a whole response that its client did not wait for. @param pieces - what has come of its body. */
  partialTokens(pieces: readonly Uint8Array[]): UsageCounts;
  readStream(): StreamCodec;
  /**
   * For a client that wants bytes. @param headers - the upstream's, names in lower case.
   * @throws GatewayError when these are none that it wants.
   */
  readBytes?(headers: Readonly<Record<string, string>>): ByteAnswer;
  /** The upstream's error, in the gateway's words. @param body - its first bytes. */
  readError(status: number, headers: Readonly<Record<string, string>>, body: Uint8Array): GatewayError;
  /**
   * Keeps a response that was read to its end, where later requests can refer to it. The client gets the end of its
   * response after that. Absent where nothing is kept.
   * @param instead - the response as JSON text, where its client gets another one than the upstream's.
   */
  keep?: ((instead?: string) => Promise<void>) | undefined;
}

/** A request to count the tokens of a prompt, understood. */
export interface CountedRequest {
  readonly model: string;
  /** The body of the response, as JSON text. @throws GatewayError */
  count(model: ModelTraits, room: LoadRoom): string | Promise<string>;
}

/** Reads a request that counts tokens. @throws GatewayError 400 */
export type CountRequest = (
  body: Uint8Array,
  services: OperationServices,
  facts: RequestFacts,
) => Promise<CountedRequest>;
