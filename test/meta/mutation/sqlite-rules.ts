import { afterAll, describe, it } from "vitest";
import { sqliteCreditLedger } from "../../../src/stores/sqlite/sqlite-credit-ledger.js";
import { describeExpiry } from "../../../src/testing/credit-ledger/expiry-rules.js";
import { describeGrant, describeReset } from "../../../src/testing/credit-ledger/grant-rules.js";
import { describeLateSettle, describeRenew, describeSettle } from "../../../src/testing/credit-ledger/settle-rules.js";
import { fixtures } from "../../../src/testing/credit-ledger-fixture.js";
import { describeCaps } from "../../../src/testing/credit-limits/cap-rules.js";
import { describeFunding } from "../../../src/testing/credit-limits/funding-rules.js";
import { describeRates } from "../../../src/testing/credit-limits/rate-rules.js";
import { DatabaseFolder } from "../../contract/sqlite/open-database.js";

// The records in memory are changed where they are kept. Only a store that writes them shows what the engine forgets to say.
const folder = new DatabaseFolder();
const database = folder.open();
afterAll(() => folder.remove());

const fixture = fixtures((clock) => sqliteCreditLedger({ database, clock }));
const input = { describe, it, fixture, ids: "unique", holds: 100 } as const;
describeSettle(input);
describeLateSettle(input);
describeExpiry(input);
describeRenew(input);
describeGrant(input);
describeReset(input);
describeCaps(input);
describeRates(input);
describeFunding(input);
