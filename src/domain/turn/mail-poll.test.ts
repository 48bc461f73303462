import { expect, test } from "bun:test";
import { mailPollReason, mailPollWarning } from "./mail-poll.ts";

const polling: readonly (readonly [command: string, reason: string])[] = [
  ["until ov mail check; do sleep 5; done", "until ov mail loop"],
  ["until ov mail check --agent b1 | grep -q done\ndo\n  sleep 5\ndone", "until ov mail loop"],
  ["cd /w &&\n\t until ov mail list --unread;\n   do echo no;\n sleep 1;\n done", "until ov mail loop"],
  ["while ! ov mail check; do sleep 1; done", "while-not ov mail loop"],
  ["while !ov mail check; do sleep 1; done", "while-not ov mail loop"],
  ['while [ -z "$(ov mail list --unread)" ]; do sleep 10; done', "ov mail piped condition"],
  ['until [ "$(ov mail check | wc -l)" -gt 0 ]; do sleep 2; done', "ov mail piped condition"],
  ["while true; do until ov mail check; do sleep 3; done; done", "until ov mail loop"],
  ["until ov mail check; do for i in 1 2; do echo $i; done; sleep 5; done", "until ov mail loop"],
];

test("a loop that sleeps until there is mail is recognised, however it is laid out", () => {
  for (const [command, reason] of polling)
    expect([command, mailPollReason(command)]).toEqual([command, reason as never]);
});

test("what does not wait for mail in a loop is left in peace", () => {
  const innocent: readonly unknown[] = [
    "ov mail check",
    "ov mail list --unread && sleep 5",
    "for i in 1 2 3; do ov mail check; sleep 5; done",
    "until ov mail check; do echo again; done",
    "while ! curl -s localhost; do sleep 1; done",
    "while true; do ov mail check; sleep 5; done",
    "until ov mail check; do sleep 5",
    "until ov mail send --to lead; do sleep 5; done",
    undefined,
    null,
    42,
    { command: "until ov mail check; do sleep 5; done" },
  ];
  for (const command of innocent) expect([command, mailPollReason(command)]).toEqual([command, undefined]);
});

test("one call leaves no trace for the next", () => {
  const command = "until ov mail check; do sleep 5; done";
  expect([mailPollReason(command), mailPollReason(command)]).toEqual(["until ov mail loop", "until ov mail loop"]);
});

test("the warning keeps the whole command and shows its beginning", () => {
  const command = `until ov mail check; do sleep 5; echo ${"x".repeat(300)}; done`;
  const warning = mailPollWarning({ command, description: "wait" });
  expect(warning).toMatchObject({
    type: "mail_poll_detected",
    level: "warn",
    data: { reason: "until ov mail loop", command },
  });
  expect(JSON.stringify(warning?.data)).toEndWith(`: ${command.slice(0, 200)}…"}`);
  expect(mailPollWarning({ command: "ls" })).toBeUndefined();
  expect(mailPollWarning({ path: "a.ts" })).toBeUndefined();
});
