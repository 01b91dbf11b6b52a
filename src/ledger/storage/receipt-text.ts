import type { Receipt } from "../receipt.js";

type ReceiptText = readonly [amountMicro: number, expiresAt: number, starts: Three, ends: Three, prepaidMicro: number];
type Three = readonly [session: number, week: number, month: number];

/** A receipt in few bytes, without its account. */
export function encodeReceipt({ amountMicro, expiresAt, starts, ends, prepaidMicro }: Receipt): string {
  const text: ReceiptText = [
    amountMicro,
    expiresAt,
    [starts.session, starts.week, starts.month],
    [ends.session, ends.week, ends.month],
    prepaidMicro ?? 0,
  ];
  return JSON.stringify(text);
}

export function decodeReceipt(account: string, text: string): Receipt {
  const [amountMicro, expiresAt, starts, ends, prepaidMicro]: ReceiptText = JSON.parse(text);
  return {
    ...{ account, amountMicro, expiresAt, starts: byWindow(starts), ends: byWindow(ends) },
    ...(prepaidMicro !== 0 && { prepaidMicro }),
  };
}

function byWindow([session, week, month]: Three): Receipt["starts"] {
  return { session, week, month };
}
