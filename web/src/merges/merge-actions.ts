import { useMemo } from "react";
import { useAct, useWhyNot } from "../api/actions.ts";
import { ApiError, read } from "../api/client.ts";
import type { Landed, Merge, MergeState, UndoPlan } from "../api/types.ts";
import { toast } from "../state/toasts.ts";
import { useGo } from "../state/url.ts";
import { count, shortCommit } from "../state/words.ts";
import { confirm, type MenuItem } from "../ui/overlays.tsx";

/** What is needed of an entry to act on it; `can` is what the server allows. */
export type Actable = Pick<Merge, "id" | "branch" | "agentName" | "priority" | "can">;
type Act = Merge["can"][number];

/** What can be done with entries of the queue and with landings, wherever they are shown. */
export function useMergeActions() {
  const act = useAct();
  const go = useGo();
  const offline = useWhyNot();
  return useMemo(() => {
    const post = (merge: Actable, verb: string, done: string, body: object = {}): Promise<boolean> =>
      act({ what: `${verb} merge ${merge.id}`, method: "POST", path: `/api/merge/${merge.id}/${verb}`, body, done });
    const approve = (merge: Actable): void =>
      void post(merge, "approve", `Approved merge ${merge.id}; it joins the next train.`);
    const retry = (merge: Actable): void => void post(merge, "retry", `Merge ${merge.id} is tried again.`);
    const resume = (merge: Actable): void => void post(merge, "resume", `Looking again at merge ${merge.id}.`);
    const reject = (merge: Actable): void =>
      confirm({
        title: `Reject merge ${merge.id}?`,
        effects: [
          `${merge.branch} leaves the queue and is kept.`,
          merge.agentName === null
            ? "The sender of the branch is told why."
            : `${merge.agentName} goes back to work with your reason; its parent is told.`,
        ],
        words: { label: "What is wrong with it" },
        verb: `Reject merge ${merge.id}`,
        run: (reason) => void post(merge, "reject", `Rejected merge ${merge.id}.`, { reason }),
      });
    const cancel = (merge: Actable): void =>
      confirm({
        title: `Cancel merge ${merge.id}?`,
        effects: [
          `${merge.branch} leaves the queue and stays as it is.`,
          "Its agent is not sent back to work, and its task is ready again.",
          "It can be tried again later.",
        ],
        verb: `Cancel merge ${merge.id}`,
        run: () => void post(merge, "cancel", `Cancelled merge ${merge.id}.`),
      });
    const move = (merge: Actable, priority: number): Promise<boolean> =>
      act({
        what: `move merge ${merge.id}`,
        method: "PATCH",
        path: `/api/merge/${merge.id}`,
        body: { priority },
        done: `Merge ${merge.id} has priority ${priority} now.`,
        undo: { label: "Undo", undoes: true, run: () => void move(merge, merge.priority) },
      });
    const landAfter = (merge: Actable, others: readonly number[]): void =>
      void act({
        what: `move merge ${merge.id}`,
        method: "PATCH",
        path: `/api/merge/${merge.id}`,
        body: { after: others.map(String) },
        done:
          others.length === 0
            ? `Merge ${merge.id} waits for no other.`
            : `Merge ${merge.id} lands after ${others.map((id) => `#${id}`).join(", ")}.`,
      });
    /** `of`: an operation, or the number of one entry of a landing. */
    const undo = async (of: string, name: string): Promise<void> => {
      const path = "/api/merge/ops/:of/undo" as const;
      const plan = await read(path, { of }).catch((error: unknown) => {
        const why = error instanceof ApiError ? error.message : String(error);
        toast(`Could not undo ${name}: ${why}.`, { failed: true });
        return undefined;
      });
      if (plan === undefined) return;
      confirm({
        title: `Undo ${name}?`,
        effects: undoEffects(plan),
        verb: "Undo",
        run: () =>
          void act({
            what: `undo ${name}`,
            method: "POST",
            path: `/api/merge/ops/${encodeURIComponent(of)}/undo`,
            done: `${name[0]?.toUpperCase()}${name.slice(1)} is being undone.`,
          }),
      });
    };
    const promote = (work: MergeState["unpromoted"][number]): void =>
      confirm({
        title: `Promote ${work.target}?`,
        effects: promoteEffects(work),
        verb: `Promote ${work.target}`,
        danger: false,
        run: () =>
          void act({
            what: `promote ${work.target}`,
            method: "POST",
            path: "/api/merge/promote",
            body: work.runId === null ? { target: work.target } : { runId: work.runId },
            done: `${work.target} is being moved to what has landed.`,
          }),
      });
    const resumeQueue = (): void =>
      void act({
        what: "resume the queue",
        method: "POST",
        path: "/api/merge/resume",
        done: "The queue goes on.",
      });
    /** Reversible, so it is not asked about; a reason can be given by `ov merge pause --reason`. */
    const pauseQueue = (): void =>
      void act({
        what: "pause the queue",
        method: "POST",
        path: "/api/merge/pause",
        done: "The queue is paused. A train that is under way may still land.",
        undo: { label: "Resume", undoes: true, run: resumeQueue },
      });
    const whyNot = (merge: Actable, verb: Act): string | undefined =>
      offline ?? (merge.can.includes(verb) ? undefined : refusals[verb]);
    const sooner = (merge: Actable): string | undefined =>
      whyNot(merge, "move") ?? (merge.priority === 0 ? "It has the most urgent priority" : undefined);
    const later = (merge: Actable): string | undefined =>
      whyNot(merge, "move") ?? (merge.priority === 4 ? "It has the least urgent priority" : undefined);
    const undoEntry = (merge: Actable): void => void undo(String(merge.id), `the landing of ${merge.branch}`);
    return {
      approve,
      reject,
      cancel,
      retry,
      resume,
      move,
      landAfter,
      undo,
      undoEntry,
      promote,
      pauseQueue,
      resumeQueue,
      whyNot,
      sooner,
      later,
      offline,
      itemsFor: (merge: Actable): readonly (MenuItem | undefined)[] => [
        { label: "Open", run: () => go(`/merge/${merge.id}`), keys: "Enter" },
        { label: "Approve", run: () => approve(merge), keys: "a", whyNot: whyNot(merge, "approve") },
        { label: "Reject...", run: () => reject(merge), keys: "x", whyNot: whyNot(merge, "reject") },
        { label: "Try again", run: () => retry(merge), whyNot: whyNot(merge, "retry") },
        { label: "Look again now", run: () => resume(merge), whyNot: whyNot(merge, "resume") },
        undefined,
        {
          label: "Sooner",
          run: () => void move(merge, merge.priority - 1),
          keys: "Alt+ArrowUp",
          whyNot: sooner(merge),
        },
        {
          label: "Later",
          run: () => void move(merge, merge.priority + 1),
          keys: "Alt+ArrowDown",
          whyNot: later(merge),
        },
        undefined,
        { label: "Undo...", run: () => undoEntry(merge), keys: "u", whyNot: whyNot(merge, "undo") },
        { label: "Cancel...", run: () => cancel(merge), whyNot: whyNot(merge, "cancel"), danger: true },
      ],
    };
  }, [act, go, offline]);
}

/** Why an act is not possible with an entry as it stands. */
const refusals: Readonly<Record<Act, string>> = {
  approve: "It does not wait for approval",
  reject: "It is not in the queue",
  move: "Its place cannot change now",
  resume: "Nothing blocks it",
  retry: "It has not failed",
  cancel: "It has ended",
  undo: "It has not landed",
};

/** What taking something back does, in the words of its plan. */
export function undoEffects({ operation, entries, whole, promoted, later }: UndoPlan): readonly string[] {
  const branch = operation.ref.replace("refs/heads/", "");
  const [from, to] = [shortCommit(operation.afterCommit), shortCommit(operation.beforeCommit)];
  const names = entries.map((entry) => entry.branch).join(", ");
  const others = whole ? [] : ["The other branches of the train stay."];
  const kept = promoted === null ? [] : [`${promoted} has it already, and keeps it until you promote again.`];
  if (operation.kind === "promote")
    return [`${branch} moves back from ${from} to ${to}.`, "What has landed stays landed."];
  if (operation.kind === "undo") return [`${names} comes back to ${branch}.`, "It must pass the gates.", ...kept];
  if (whole && later === 0)
    return [
      `${branch} goes back from ${from} to ${to}.`,
      ...kept,
      "The branch is not queued again. An undo can be undone.",
    ];
  return [
    `What ${names} brought is taken out of ${branch} by a commit on top, which must pass the gates.`,
    ...(later === 0 ? [] : [`${count(later, "later landing")} ${later === 1 ? "stays" : "stay"}.`]),
    ...others,
    ...kept,
    "If later work rests on it, nothing is changed and the reason is shown in History.",
  ];
}

function promoteEffects({
  target,
  landing,
  landings,
  takenOut,
  unverified,
  problem,
}: MergeState["unpromoted"][number]) {
  return [
    `${target} moves forward to ${landing}: ${count(landings, "landing")}${takenOut === 0 ? "" : `, ${takenOut} taken out`}.`,
    "Files of your checkout follow. A file that you have changed is never overwritten: then nothing moves.",
    ...(unverified.length === 0 ? [] : [`Not proved by gates: ${unverified.join("; ")}.`]),
    ...(problem === null ? [] : [`The last try was refused: ${problem}`]),
  ];
}

/** What an operation of the log is called in a sentence: "the landing of docs". */
export function operationName({ kind, ref, branches }: Pick<Landed, "kind" | "ref" | "branches">): string {
  const names = branches.map(({ branch }) => branch);
  const what = names.length > 1 ? `a train of ${names.length}` : (names[0] ?? ref.replace("refs/heads/", ""));
  const words: Readonly<Record<Landed["kind"], string>> = {
    land: `the landing of ${what}`,
    undo: `the undo of ${what}`,
    promote: `the promotion of ${ref.replace("refs/heads/", "")}`,
    begin: `the beginning of ${what}`,
    accept: `the acceptance of ${what}`,
    restore: `the restoring of ${what}`,
  };
  return words[kind];
}
