/** Charges that the plan and prepaid credits share. */
export const sqliteVersion9 = `
  -- What the session, the week and the month were limited to when a reservation was admitted, a JSON array. NULL where it
  -- has ended, and in rows of earlier versions.
  ALTER TABLE infergate_entry ADD COLUMN limits TEXT;
  -- What prepaid credits have paid for a reservation, all its charges together. NULL is nothing, but the whole checkpoint
  -- of one that prepaid credits fund and that has expired: so do processes of the release before, which leave it NULL.
  ALTER TABLE infergate_entry ADD COLUMN paid INTEGER;
  -- What prepaid credits paid of an entry's amount. NULL, as in entries of earlier versions: all of what a call was
  -- charged that names no window, and else nothing.
  ALTER TABLE infergate_entry ADD COLUMN prepaid INTEGER;
  `;
