/** Whether a text holds the number of a payment card: 13 to 19 digits whose check digit is right. */
export function hasCardNumber(text: string): boolean {
  const candidates = text.match(/\b\d(?:[ -]?\d){12,18}\b/g) ?? [];
  return candidates.some((candidate) => isValid(candidate.replace(/\D/g, "")));
}

/** Luhn's check: every second digit from the right counts twice, by the sum of its digits. */
function isValid(digits: string): boolean {
  const sum = [...digits].reverse().reduce((total, digit, index) => {
    const value = Number(digit) * (index % 2 === 0 ? 1 : 2);
    return total + (value > 9 ? value - 9 : value);
  }, 0);
  return sum % 10 === 0;
}
