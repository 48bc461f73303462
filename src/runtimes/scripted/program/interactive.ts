import { writeSync } from "node:fs";
import { homedir } from "node:os";
import { type Conversation, Conversations } from "./conversation.ts";

/**
 * The scripted agent for a person: says which conversation this is, then repeats each line until the input ends. A line
 * that starts with `!` is run by a shell, as a person would let a coding agent do it.
 */
export async function runInteractive(
  argv: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
): Promise<number> {
  const [flag, id, ...rest] = argv;
  if (flag !== "--resume" || id === undefined || rest.length > 0) {
    writeSync(2, "Error: --interactive needs --resume <session id>, and nothing else\n");
    return 1;
  }
  const conversations = new Conversations(env.HOME ?? homedir());
  const found = conversations.find(id);
  if (found === undefined) {
    writeSync(2, `No conversation found with session ID: ${id}\n`);
    return 1;
  }
  say(`conversation ${id}, ${found.turns} turns so far`);
  let conversation: Conversation = found;
  for await (const line of linesOf(Bun.stdin.stream())) {
    conversation = { ...conversation, inputs: [...conversation.inputs, line] };
    conversations.save(conversation);
    if (line.startsWith("!")) await run(line.slice(1));
    else say(`you said: ${line}`);
  }
  return 0;
}

const say = (text: string): void => void writeSync(1, `${text}\n`);

async function run(command: string): Promise<void> {
  const child = Bun.spawn({ cmd: ["/bin/sh", "-c", command], stdio: ["ignore", "inherit", "inherit"] });
  const code = await child.exited;
  if (code !== 0) say(`exit ${code}`);
}

async function* linesOf(input: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder();
  let rest = "";
  for await (const bytes of input) {
    const lines = (rest + decoder.decode(bytes, { stream: true })).split("\n");
    rest = lines.pop() ?? "";
    yield* lines;
  }
  if (rest !== "") yield rest;
}
