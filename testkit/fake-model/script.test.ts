import { expect, test } from "bun:test";
import { dueIn, type Turn } from "./script.ts";

const user = (text: string): Turn => ({ role: "user", text });
const answer: Turn = { role: "assistant", text: "one" };

test("a script is found however the client quoted it, and the last one given is the one that counts", () => {
  const first = user('| \\@@[{"text":"one"}]\\@@ and on');
  const second = user('"@@[{\\"text\\":\\"two\\"}]@@"');
  expect(dueIn([first]).answer).toEqual({ text: "one" });
  expect(dueIn([first, answer, second]).answer).toEqual({ text: "two" });
  expect(dueIn([first, answer, second, answer]).answer).toBeUndefined();
  expect(dueIn([user("no script")]).answer).toBeUndefined();
  expect(dueIn([first, { role: "other", text: second.text }]).answer).toEqual({ text: "one" });
});

test("failures belong to the answer that they come before", () => {
  const prompt = user(
    '@@[{"status":500},{"hang":"headers"},{"text":"one"},{"cut":"stream"},{"text":"two"},{"status":429}]@@',
  );
  expect(dueIn([prompt])).toEqual({ answer: { text: "one" }, failures: [{ status: 500 }, { hang: "headers" }] });
  expect(dueIn([prompt, answer])).toEqual({ answer: { text: "two" }, failures: [{ cut: "stream" }] });
  expect(dueIn([prompt, answer, user("on"), answer])).toEqual({ answer: undefined, failures: [{ status: 429 }] });
});

test("what Claude Code writes itself behind a call that was cut off is no answer of the model", () => {
  const prompt = user('@@[{"text":"one"},{"text":"two"}]@@');
  const own: Turn = { role: "assistant", text: "No response requested." };
  expect(dueIn([prompt, answer, own]).answer).toEqual({ text: "two" });
});

test("a script that is no JSON is said to be none", () => {
  expect(() => dueIn([user("@@[{text: 1}]@@")])).toThrow("a script that is no JSON");
});
