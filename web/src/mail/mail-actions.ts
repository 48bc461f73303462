import { useMemo } from "react";
import { useAct, useWhyNot } from "../api/actions.ts";
import type { Letter, Thread } from "../api/types.ts";

/** What the operator does with mail. None of it moves a delivery, but sending again and giving to another reader. */
export function useMailActions() {
  const act = useAct();
  const whyNot = useWhyNot();
  return useMemo(() => {
    const path = (id: string, verb: string): string => `/api/mail/${encodeURIComponent(id)}/${verb}`;
    const markSeen = (id: string, seen: boolean): Promise<boolean> =>
      act({ what: "mark it", method: "POST", path: path(id, "seen"), body: { mark: seen ? "seen" : "unseen" } });
    const bringBack = (thread: Pick<Thread, "newestId" | "subject">): Promise<boolean> =>
      act({
        what: "bring it back",
        method: "POST",
        path: path(thread.newestId, "away"),
        body: { mark: "unsnooze" },
        done: `Brought back: ${thread.subject}.`,
      });
    const putAway = (thread: Pick<Thread, "newestId" | "subject">): Promise<boolean> =>
      act({
        what: "put it away",
        method: "POST",
        path: path(thread.newestId, "away"),
        done: `Put away until a new message comes: ${thread.subject}.`,
        undo: { label: "Undo", undoes: true, run: () => void bringBack(thread) },
      });
    const reply = (letter: Pick<Letter, "id" | "from">, body: string): Promise<boolean> =>
      act({
        what: "send the reply",
        method: "POST",
        path: path(letter.id, "reply"),
        body: { body },
        done: `Reply sent to ${letter.from}.`,
      });
    const decide = (id: string, option: string, note: string): Promise<boolean> =>
      act({
        what: `decide "${option}"`,
        method: "POST",
        path: `/api/decisions/${encodeURIComponent(id)}`,
        body: { option, ...(note.trim() === "" ? {} : { note: note.trim() }) },
        done: `Decided: ${option}.`,
      });
    const retry = (id: string, to: string): Promise<boolean> =>
      act({
        what: "send it again",
        method: "POST",
        path: path(id, "retry"),
        done: `Sent to ${to} again.`,
      });
    const redirect = (id: string, to: string): Promise<boolean> =>
      act({
        what: `give it to ${to}`,
        method: "POST",
        path: path(id, "redirect"),
        body: { to },
        done: `Given to ${to}.`,
      });
    return { whyNot, markSeen, putAway, bringBack, reply, decide, retry, redirect };
  }, [act, whyNot]);
}
