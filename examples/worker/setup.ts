import { type GatewayEnv, makeGateway } from "./gateway.js";

const gateway = makeGateway(process.env as unknown as GatewayEnv);

await gateway.plans.put({ id: "starter", models: ["acme/*"], credits: { session: 4, week: 20, month: 60 } });
const { secret } = await gateway.keys.create({ account: "acct_1", plan: "starter" });
console.log(`The plan "starter" is there. A key of the account acct_1, which is shown only now:\n${secret}`);
await gateway.close();
