import { accountFunctions, windowFunctions } from "../sql/account-functions.js";
import { capFunctions, limitFunctions } from "../sql/limit-functions.js";
import {
  answerFunctions,
  correctionFunctions,
  operateFunction,
  readCommittedProcedures,
} from "../sql/operate-function.js";
import { prepaidFunctions, splitFunctions } from "../sql/prepaid-functions.js";
import { rateFunctions } from "../sql/rate-functions.js";
import { renewFunction, reserveFunction, settleFunction } from "../sql/reserve-function.js";
import { responseFunctions, responseProcedures } from "../sql/response-functions.js";
import { retentionFunctions, sweepFunction } from "../sql/retention-functions.js";
import { quarterFunctions, sliceFunctions } from "../usage/quarter-functions.js";
import { statementFunctions } from "../usage/statement-functions.js";
import { sumUsageFunction } from "../usage/sum-usage-function.js";
import { runningFunctions, usageFunctions } from "../usage/usage-functions.js";

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
