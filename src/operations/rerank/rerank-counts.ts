import { countInput } from "../inputs/count-inputs.js";
import type { ModelTraits } from "../operation.js";
import { type RerankRequest, usualChunkTokens } from "./rerank-request.js";

/** What models put around a query and a document. */
const around = 16;

/** So many pieces are a search. */
const piecesOfSearch = 100;

/** What a request counts at the most. */
export interface RerankCounts {
  /** The tokens of each document with the query, which a model reads once for each. */
  readonly pairs: readonly number[];
  readonly searches: number;
}

export function countRerank({ body, query, documents }: RerankRequest, model: ModelTraits): RerankCounts {
  const ofQuery = countInput(body, query, model);
  const chunk = model.rerank?.chunkTokens ?? usualChunkTokens;
  const tokens = documents.map((document) => ofQuery + countInput(body, document, model));
  const pieces = tokens.reduce((sum, each) => sum + Math.ceil(each / chunk), 0);
  return { pairs: tokens.map((each) => each + around), searches: Math.ceil(pieces / piecesOfSearch) };
}
