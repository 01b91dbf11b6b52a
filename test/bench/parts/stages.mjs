/**
 * The stages of a call, each with the files of `src` that are its own; the first that fits counts. Where none does, the
 * folder stands for itself, so that nothing new is left out.
 */
const stages = [
  ["find the path", /^server\/paths|^call\/request-id/],
  ["hold credits", /hold-room|hold-credits|check-call|complete-call|call-limits|^call\/\w+\/(?:\w+-)?denial\.ts$/],
  ["authenticate", /^keys\/|^access\/(?:authenticate|cached-lookup|store-lookup|account-lookup|caller|key-|rate-)/],
  ["authorize", /^plans\/|^access\//],
  ["read the body", /^http\//],
  [
    "count tokens",
    /^tokens\/|^openai\/media\/|tokens\.ts$|outline\.ts$|^operations\/(?:demand-of|most-output|require-fit)/,
  ],
  ["write the upstream request", /encode-|(?:message|request)-edits|native-\w+-exchange|to-upstream/],
  [
    "read the answer",
    /answer|native-response|plain-completion|long-event|response-in-event|response-shortcut|read-whole|usage\.ts$|codec|respond-whole|few-members|until-aborted|json-document/,
  ],
  ["parse and check the request", /^openai\/|^anthropic\/|chat-completions|^operations\/(?:responses|messages)\.ts/],
  ["the ledger", /^memory\/|^ledger\/|^gateway\/watched-ledger/],
  ["choose a target", /^routing\/|^call\/attempt|try-targets/],
  ["send", /^call\/relay\/send|^providers\//],
  ["settle", /^metering\/|^call\/(?:call-settlement|meter|model-call|open-calls|lease-keeper|departure)/],
  ["headers", /headers|credit-text/],
  ["relay a stream", /^call\/relay\//],
  ["events", /^events\//],
  ["the road between them", /^server\/|^call\//],
];

/** What reads and edits JSON does so for whoever calls it. */
const helpers = /^wire\/|^metering\/micro/;

/**
 * @param place - as the source map gives it: `src/server/paths.ts:47`, or another's.
 * @returns `undefined` where the caller has to be asked.
 */
export function stageOf(place) {
  const file = place.match(/^src\/(.*\/.*\.ts)/)?.[1];
  if (file === undefined || helpers.test(file)) return undefined;
  return stages.find(([, files]) => files.test(file))?.[0] ?? file.slice(0, file.indexOf("/"));
}
