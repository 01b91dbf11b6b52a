/** The operations that the script knows, in the order of their codes, and which of them have a key of their own id. */
export const operationKinds = [
  { name: "reserve", hasOwnKey: true },
  { name: "settle", hasOwnKey: true },
  { name: "grant", hasOwnKey: true },
  { name: "reset", hasOwnKey: false },
  { name: "forget", hasOwnKey: false },
  { name: "topUp", hasOwnKey: true },
] as const;
