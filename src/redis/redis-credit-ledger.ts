import { randomUUID } from "node:crypto";
import { blockedWindows } from "../ledger/account-state.js";
import {
  type Blocked,
  type CreditLedger,
  type GrantRequest,
  type HistoryPage,
  type HistoryRequest,
  type Lease,
  LedgerUnavailableError,
  type RenewRequest,
  type RenewStatus,
  type ReserveRequest,
  type ReserveResult,
  type Settlement,
  type SettleResult,
  type SettleStatus,
  type WindowLimits,
  type WindowName,
  type WindowStates,
} from "../ledger/credit-ledger.js";
import {
  checkGrant,
  checkLease,
  checkLimits,
  checkRenew,
  checkReserve,
  checkSettle,
  checkSubject,
} from "../ledger/ledger-input.js";
