import type { Price } from "../../prices/price.js";
import type { ImageTokens } from "../../protocols/images/image-usage.js";
import type { ModelType } from "../../protocols/shared/model-type.js";
import type { DisconnectPolicy } from "../../records/plans/plan-store.js";
import type { TokenBounds, Tokenizer } from "../../tokens/tokenizer.js";
import type { RoutingOptions, TargetOptions } from "./target-options.js";

/** A model of the catalog. */
export interface Model extends RoutingOptions {
  /** The name that clients send as `model` and see in the model list. It may contain slashes: `acme/small`. */
  id: string;
  /**
   * Further names of the model, such as `["claude-sonnet-4-5", "gpt-5-codex"]`. Clients call it by them and find them in the
   * model list. Plans, keys, the journal and usage know its id alone. All ids and aliases must be unique. Default: none.
   */
  aliases?: readonly string[] | undefined;
  /** What the model is for. It decides which endpoints take it. */
  type: ModelType;
  /** Who made the model; also sent as `owned_by`. Default: absent, with `owned_by` `"infergate"`. */
  publisher?: string | undefined;
  /**
   * The tokens that the model accepts in one request: prompt and output together. Models for chat, completions and embeddings
   * must have it, and those for reranking with `price.input`. Default for others: nothing is known of it.
   */
  contextLength?: number | undefined;
  /** The longest output in tokens; a larger `max_tokens` is reduced to it. Default: only `contextLength` limits it. */
  maxOutputTokens?: number | undefined;
  /** What the model can do; known are `reasoning`, `tools` and `vision`. Default: `{}`. */
  capabilities?: Readonly<Record<string, unknown>> | undefined;
  /**
   * What to do with a request for tools, reasoning or images that `capabilities` does not set to `true` (`tools`,
   * `reasoning`, `vision`). `"pass"`: the upstream decides. `"refuse"`: a 400 before any upstream is called. `"drop"`:
   * it is removed from the request. Default: `"pass"`.
   */
  unsupported?: "pass" | "refuse" | "drop" | undefined;
  /**
   * Whether the gateway refuses a prompt that certainly exceeds {@link contextLength} before any upstream is called.
   * Turn it off for an upstream that shortens prompts. Default: `true`.
   */
  enforceContextLength?: boolean | undefined;
  /**
   * Counts the model's tokens for that check, for holds, and for charges where an upstream reports no usage. See
   * `infergate/tokenizer`. It costs time on every request. Default: bounds that hold for all tokenizers.
   */
  tokenizer?: Tokenizer | undefined;
  /** The most tokens that its images, audio and files count. Default: those of the models that count the most. */
  tokenBounds?: TokenBounds | undefined;
  /**
   * The most output tokens of an image, by rows as those of `price.images`. A model whose price has `outputImage` must have it,
   * unless all its targets are OpenAI's `gpt-image-1`, `gpt-image-1-mini` or `gpt-image-1.5`. Default: what OpenAI has published
   * of these.
   */
  imageTokens?: readonly ImageTokens[] | undefined;
  /**
   * The longest audio of one request that the upstream accepts, in seconds: it is held for audio whose length its bytes do not
   * bound, which is all but WAV and MP3. Default: 7,200.
   */
  maxAudioSeconds?: number | undefined;
  /**
   * Compressed audio has at least so many bytes a second, such as 500: a trust in clients, since silence takes nearly none.
   * Default: nothing is assumed.
   */
  leastAudioBytesPerSecond?: number | undefined;
  /** The sizes of images that requests may ask for beside `auto`, such as `["1024x1024"]`. Default: any. */
  sizes?: readonly string[] | undefined;
  /** How a model of the type `rerank` counts documents. */
  rerank?: RerankOptions | undefined;
  /** What it costs. A model whose prices are all zero is free: accounts without credits can use it, too. */
  price: Price;
  /**
   * Where its calls go. Several targets are tried in their order, as long as nothing has been sent to the client.
   * Targets of equal priority share the calls.
   */
  upstream: TargetOptions | readonly TargetOptions[];
  /**
   * Members that requests may set although they choose another model, price or cap than the catalog's, such as
   * `["service_tier"]`, and names that the gateway refuses or leaves out: types of tools and of content, betas. See
   * `docs/restricted-members.md`. You pay what they cost beyond the prices. Default: `[]`.
   */
  allowMembers?: readonly string[] | undefined;
  /**
   * What happens to what the gateway does not know, where a request goes to a server that speaks its protocol: members,
   * types of content and of tools, and betas. `"refuse"`: unknown members and types are a 400, and unknown betas are left
   * out. `"pass"`: all of it is sent; you pay what it costs. Default: as `"refuse"`, but unknown members that are no
   * objects are sent. `allowMembers` lets single names through. See `docs/restricted-members.md`.
   */
  unknownMembers?: "refuse" | "pass" | undefined;
  /**
   * What to do with a response after its client has left, unless the plan has its own setting. Default: `"cancel"`; for images
   * `"drain"`, since most of what they cost is done by then.
   */
  disconnect?: DisconnectPolicy | undefined;
  /** Further members of the model record. Cannot replace those that the gateway sets. */
  extra?: Readonly<Record<string, unknown>> | undefined;
}

/** How a reranking model counts documents. */
export interface RerankOptions {
  /** The most documents of a request; beyond it a 400. At most 10,000. Default: 1,000. */
  maxDocuments?: number | undefined;
  /**
   * The tokens of a piece of a document, with the query: a longer document counts as several. It is for models with
   * `price.searches`, of which one is a query with up to 100 pieces. Default: 500, as Cohere's models before v4 have it.
   */
  chunkTokens?: number | undefined;
}
