/** Shows an amount in fen as yuan: 1234 becomes "12.34". */
export function yuan(fen: number): string {
  if (!Number.isSafeInteger(fen)) throw new RangeError(`not an amount: ${fen}`);
  const sign = fen < 0 ? "-" : "";
  const abs = Math.abs(fen);
  return `${sign}${Math.floor(abs / 100)}.${String(abs % 100).padStart(2, "0")}`;
}
