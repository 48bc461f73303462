import { expect, test } from "bun:test";
import { startFakeModel } from "./server.ts";

const tools = [{ name: "Bash", input_schema: { required: ["command", "description"], properties: { command: {} } } }];
const user = (text: string) => ({ role: "user", content: [{ type: "text", text }] });

test("the script in the conversation decides each answer, whoever asks and however often", async () => {
  await using model = startFakeModel();
  const ask = async (messages: unknown[], more: object = {}): Promise<Response> =>
    fetch(`${model.url}/v1/messages?beta=true`, {
      method: "POST",
      body: JSON.stringify({ model: "m", messages, tools, ...more }),
    });
  const script = user('Work. @@[{"shell":"ls"},{"status":500},{"text":"done"}]@@');
  const first = (await (await ask([script])).json()) as { content: unknown };
  expect(first).toMatchObject({ content: [{ type: "tool_use", name: "Bash", input: { command: "ls" } }] });
  const called = [script, { role: "assistant", content: first.content }, user("a.txt")];
  expect((await ask(called)).status).toBe(500);
  expect(await (await ask(called)).json()).toMatchObject({ content: [{ type: "text", text: "done" }] });
  const stream = await (await ask(called, { stream: true })).text();
  expect(stream).toContain("event: message_stop");
  expect(await (await ask([script], { tools: [] })).json()).toMatchObject({ content: [{ text: "A title" }] });
  expect(model.seen).toHaveLength(5);
});

test("a script is found however the client quoted it, and the last one given is the one that counts", async () => {
  await using model = startFakeModel();
  const said = async (...messages: unknown[]): Promise<unknown> => {
    const body = JSON.stringify({ model: "m", messages, tools });
    return (await fetch(`${model.url}/v1/messages`, { method: "POST", body })).json();
  };
  const first = user('| \\@@[{"text":"one"}]\\@@ and on');
  expect(await said(first)).toMatchObject({ content: [{ text: "one" }] });
  const answer = { role: "assistant", content: [{ type: "text", text: "one" }] };
  const second = user('"@@[{\\"text\\":\\"two\\"}]@@"');
  expect(await said(first, answer, second)).toMatchObject({ content: [{ text: "two" }] });
  expect(await said(first, answer, second, answer)).toMatchObject({ content: [{ text: "Nothing more to say." }] });
  expect(await said(user("no script"))).toMatchObject({ content: [{ text: "Nothing more to say." }] });
});
