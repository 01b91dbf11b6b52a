import { capFunctions } from "../limits/cap-functions.js";
import { limitFunctions } from "../limits/limit-functions.js";
import { prepaidFunctions } from "../limits/prepaid-functions.js";
import { rateFunctions } from "../limits/rate-functions.js";
import { splitFunctions } from "../limits/split-functions.js";
import { accountFunctions } from "../sql/account-functions.js";
import { answerFunctions } from "../sql/answer-functions.js";
import { correctionFunctions } from "../sql/correction-functions.js";
import { operateFunction } from "../sql/operate-function.js";
import { readCommittedProcedures } from "../sql/read-committed-procedures.js";
import { renewFunction } from "../sql/renew-function.js";
import { reserveFunction } from "../sql/reserve-function.js";
import { responseFunctions } from "../sql/response-functions.js";
import { responseProcedures } from "../sql/response-procedures.js";
import { retentionFunctions } from "../sql/retention-functions.js";
import { settleFunction } from "../sql/settle-function.js";
import { sweepFunction } from "../sql/sweep-function.js";
import { windowFunctions } from "../sql/window-functions.js";
import { quarterFunctions } from "../usage/quarter-functions.js";
import { runningFunctions } from "../usage/running-functions.js";
import { sliceFunctions } from "../usage/slice-functions.js";
import { statementFunctions } from "../usage/statement-functions.js";
import { sumUsageFunction } from "../usage/sum-usage-function.js";
import { usageFunctions } from "../usage/usage-functions.js";

/**
 * All that operations call, as the newest version has it. It takes the place of what the version before had, and keeps
 * the grants. What processes of the version before call stays, with the parameters and results that those use: they go on
 * calling it during a deployment.
 */
export const postgresFunctions = [
  windowFunctions,
  accountFunctions,
  answerFunctions,
  reserveFunction,
  renewFunction,
  settleFunction,
  correctionFunctions,
  operateFunction,
  sweepFunction,
  retentionFunctions,
  readCommittedProcedures,
  responseFunctions,
  responseProcedures,
  prepaidFunctions,
  splitFunctions,
  capFunctions,
  rateFunctions,
  limitFunctions,
  quarterFunctions,
  usageFunctions,
  sumUsageFunction,
  sliceFunctions,
  runningFunctions,
  statementFunctions,
]
  .join("")
  .replaceAll(/^create (?=function|procedure)/gm, "create or replace ");
