/**
 * What a caller has given is not valid: a TypeError, with the HTTP status that a framework responds with. Express, Koa
 * and Fastify read `status`; NestJS reads `statusCode`.
 */
export class InputError extends TypeError {
  readonly status = 400;
  readonly statusCode = 400;
}
