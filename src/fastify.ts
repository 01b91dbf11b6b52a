export {
  type FastifyPlugin,
  type FastifyReplyLike,
  type FastifyRequestLike,
  type FastifyScope,
  toFastifyPlugin,
} from "./adapters/fastify.js";
