import { env } from "cloudflare:workers";
import { neonConfig } from "@neondatabase/serverless";

neonConfig.fetchEndpoint = (env as unknown as { NEON_ENDPOINT: string }).NEON_ENDPOINT;
