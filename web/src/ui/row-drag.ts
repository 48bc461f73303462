import { type DragEvent, useState } from "react";
import type { Placed } from "./grid-order.ts";

/** What moving a row by pointer does. Its menu and its keys do the same. */
export interface RowDrag<Row> {
  readonly isMovable: (row: Row) => boolean;
  /** What letting go of a row above another one does, in words. Without `run` it does nothing, and the words say why. */
  readonly planOf: (moved: Row, over: Row, goesDown: boolean) => DropPlan;
}

export interface DropPlan {
  readonly words: string;
  readonly run?: () => void;
}

/** The row that is dragged, the row that it is above, and what the list shows of that. */
export function useRowDrag<Row>(drag: RowDrag<Row> | undefined, shown: readonly Placed<Row>[]) {
  const [movedId, setMoved] = useState<string>();
  const [overId, setOver] = useState<string>();
  const placeOf = (id: string | undefined): number => shown.findIndex((each) => each.id === id);
  const [from, to] = [placeOf(movedId), placeOf(overId)];
  const [moved, over] = [shown[from]?.row, shown[to]?.row];
  const plan =
    drag === undefined || moved === undefined || over === undefined || from === to
      ? undefined
      : drag.planOf(moved, over, to > from);
  const letGo = (): void => {
    setMoved(undefined);
    setOver(undefined);
  };
  return {
    words: plan?.words,
    dropAt: (id: string): "yes" | "no" | undefined =>
      plan === undefined || id !== overId ? undefined : plan.run === undefined ? "no" : "yes",
    /** Where nothing may be dropped no drop is told, so the words stand there while the row is above it. */
    onDrag: (event: DragEvent, id: string): void => {
      if (event.type === "dragstart") {
        event.dataTransfer.effectAllowed = "move";
        event.dataTransfer.setData("text/plain", id);
        setMoved(id);
      } else if (movedId === undefined || event.type === "dragend") letGo();
      else if (event.type === "dragover") {
        setOver(id);
        if (plan?.run === undefined) return;
        event.preventDefault();
        event.dataTransfer.dropEffect = "move";
      } else if (event.type === "drop") {
        event.preventDefault();
        plan?.run?.();
        letGo();
      }
    },
  };
}
