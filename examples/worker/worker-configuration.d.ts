/** As `wrangler types` writes it, for what `wrangler.jsonc` and the secrets give. */
declare module "cloudflare:workers" {
  export const env: import("./gateway.js").GatewayEnv;
}
