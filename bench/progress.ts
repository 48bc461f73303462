/** Says on stderr how far a long measurement is, in one line that is written over. */
export function progress(what: string, done: number, of: number): void {
  process.stderr.write(`\r${what}: ${done}/${of}${done === of ? "\n" : ""}`);
}
