import { join } from "node:path";
import { outputName, turnOutput } from "../src/host/turn-output.ts";

/** What the program of an agent printed in the turn of this directory, compressed or not; empty when there is nothing. */
export function outputIn(logDir: string): string {
  const output = turnOutput(join(logDir, outputName));
  return Buffer.from(output.read(0, output.size())).toString("utf8");
}
