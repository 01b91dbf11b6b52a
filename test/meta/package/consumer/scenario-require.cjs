const { scenario } = require("./scenario.cjs");

scenario(require("infergate"), {
  ...require("infergate/express"),
  ...require("infergate/fastify"),
  ...require("infergate/fetch"),
  ...require("infergate/node"),
});
