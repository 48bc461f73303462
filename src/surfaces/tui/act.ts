import { statusOf, waitWords } from "../../domain/agent/status.ts";
import { causeWords } from "../../domain/merge/words.ts";
import { quoted, visibleLine } from "../../domain/text/visible.ts";
import { describeRefusal } from "../shared/refusals.ts";
import type { Act, Mode } from "./model.ts";
import type { Subject } from "./rows.ts";
import type { DashboardApp } from "./snapshot.ts";

type Said = { readonly text: string; readonly isBad: boolean };

/** Performs an act by the operation that the command line uses too, and returns its result in words. */
export async function perform({ call }: Pick<DashboardApp, "call">, act: Act): Promise<Said> {
  const told = (
    reply: { readonly ok: true } | { readonly ok: false; readonly refusal: Parameters<typeof describeRefusal>[0] },
    text: string,
  ): Said => (reply.ok ? { text, isBad: false } : refused(reply.refusal));
  switch (act.kind) {
    case "nudge": {
      const reply = await call("agent.nudge", { name: act.agent, force: false });
      const reason = reply.ok && reply.value.reason !== null ? `; ${reply.value.reason}` : "";
      return told(reply, `${act.agent} was nudged${reason}`);
    }
    case "stop":
      return told(await call("agent.stop", { name: act.agent, tree: false, force: false }), `${act.agent} was stopped`);
    case "message": {
      const request = { to: act.to, subject: subjectOf(act.text), body: act.text };
      return told(await call("mail.send", request), `sent to ${act.to}`);
    }
    case "answer":
      return told(await call("mail.reply", { id: act.id, body: act.text }), "the answer was sent");
    case "decide":
      return told(await call("operator.decide", { id: act.id, option: act.option }), `decided: ${act.option}`);
    case "approve":
      return told(await call("merge.approve", { of: String(act.merge) }), `merge ${act.merge} may land`);
    case "reject":
      return told(
        await call("merge.reject", { of: String(act.merge), reason: act.reason }),
        `merge ${act.merge} was sent back`,
      );
    case "undo":
      return told(await call("merge.requestUndo", { of: act.operation }), "it is being taken back");
  }
}

/** A refusal as one line: what happened, and what to do about it. */
export function refused(refusal: Parameters<typeof describeRefusal>[0]): Said {
  const { message, hint } = describeRefusal(refusal);
  return { text: hint === undefined ? message : `${message} (${hint})`, isBad: true };
}

const subjectOf = (text: string): string => {
  const [first = ""] = text.split("\n");
  return first.length <= 60 ? first : `${first.slice(0, 59)}…`;
};

/** A page about what a row stands for. */
export async function pageAbout({ call }: Pick<DashboardApp, "call">, subject: Subject): Promise<Mode> {
  const page = (title: string, lines: readonly string[]): Mode => ({ kind: "page", title, lines, top: 0 });
  switch (subject.kind) {
    case "agent":
      return page(subject.standing.agent.name, await agentLines(call, subject.standing));
    case "merge":
      return page(`Merge ${subject.merge.entry.id}`, await mergeLines(call, subject.merge.entry.id));
    case "mail": {
      const { from, to, subject: about, body, type, createdAt, id } = subject.message;
      return page(visibleLine(about), [
        `${visibleLine(from)} to ${visibleLine(to)}, ${type}, ${new Date(createdAt).toLocaleString()}, ${id}`,
        "",
        ...quoted(body),
      ]);
    }
    case "question": {
      const { from, subject: about, body, id } = subject.question;
      return page(visibleLine(about), [
        `${visibleLine(from)} asks, ${id}. Press m on its row to answer.`,
        "",
        ...quoted(body),
      ]);
    }
    case "decision": {
      const { from, subject: about, context, options, id } = subject.decision;
      return page(visibleLine(about), [
        `${visibleLine(from)} asks, ${id}. Press m on its row to decide.`,
        `Options: ${options.map(visibleLine).join(" | ")}`,
        "",
        ...quoted(context),
      ]);
    }
    case "operation":
      return page(`Operation ${subject.id}`, [subject.words]);
    case "note":
      return page(subject.words[0] ?? "", subject.words.slice(1));
  }
}

async function agentLines(
  call: DashboardApp["call"],
  { agent, waits, problem, advice, turns, unread, landedNowhere }: Extract<Subject, { kind: "agent" }>["standing"],
): Promise<readonly string[]> {
  const logs = await call("agent.logs", { name: agent.name, lines: 30 });
  const fact = (name: string, value: string | null): readonly string[] =>
    value === null || value === "" ? [] : [`${name.padEnd(10)} ${visibleLine(value)}`];
  return [
    ...fact("status", statusOf({ ...agent, landedNowhere }).words),
    ...fact("waits for", waits.map(waitWords).join(", ")),
    ...fact("problem", problem),
    ...fact("to do", advice),
    ...fact("capability", agent.capability),
    ...fact("runtime", `${agent.runtime}${agent.model === null ? "" : `, ${agent.model}`}`),
    ...fact("task", agent.taskId),
    ...fact("parent", agent.parentName),
    ...fact("branch", agent.branch),
    ...fact("worktree", agent.worktreePath),
    ...fact("turns", `${turns}, ${unread} unread`),
    "",
    ...(logs.ok ? logs.value.lines.map(({ text }) => visibleLine(text)) : []),
  ];
}

async function mergeLines(call: DashboardApp["call"], id: number): Promise<readonly string[]> {
  const found = await call("merge.readEntry", { of: String(id) });
  if (!found.ok) return [refused(found.refusal).text];
  const { entry, attempts, gates, waitsFor } = found.value;
  return [
    `${visibleLine(entry.branch)} into ${visibleLine(entry.targetBranch)}: ${entry.status}`,
    ...(entry.cause === null ? [] : [causeWords[entry.cause]]),
    ...(waitsFor.length === 0 ? [] : [`waits for ${waitsFor.map((one) => `#${one}`).join(" ")}`]),
    ...(entry.taskId === null ? [] : [`task ${visibleLine(entry.taskId)}`]),
    ...(entry.agentName === null ? [] : [`agent ${visibleLine(entry.agentName)}`]),
    `${attempts.length} attempts`,
    ...gates.map(({ command, status }) => `gate ${visibleLine(command)}: ${status}`),
    "",
    ...entry.filesModified.map(visibleLine),
  ];
}
