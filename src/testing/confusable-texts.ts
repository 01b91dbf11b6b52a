/** Texts that stores mix up, cut off or refuse each in a way of its own, so that none may be in an id. */
export const confusableTexts: readonly string[] = [
  "\ud83d",
  "\ud83e",
  "\ude00\ud83d",
  "\0",
  "a\0b",
  "\n",
  "\u001b",
  "\u007f",
  "\u0085",
];
