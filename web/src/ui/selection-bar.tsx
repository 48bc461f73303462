import { type ReactNode, useEffect, useRef } from "react";
import { Button } from "./controls.tsx";
import css from "./selection-bar.module.css";
import { useSize } from "./use-size.ts";

interface Given {
  readonly count: number;
  readonly onClear: () => void;
  readonly children: ReactNode;
}

/** What can be done with the rows that are chosen, below their grid. */
export const SelectionBar = (given: Given) => (given.count === 0 ? null : <Bar {...given} />);

function Bar({ count, onClear, children }: Given) {
  const bar = useRef<HTMLDivElement>(null);
  const { height } = useSize(bar);
  // Messages appear above it: what was just done is often followed by the next act on the same rows.
  useEffect(() => {
    const { style } = document.documentElement;
    style.setProperty("--bar-inset", `${height}px`);
    return () => void style.removeProperty("--bar-inset");
  }, [height]);
  return (
    <div ref={bar} className={css.bar}>
      <span>{count} selected</span>
      {children}
      <Button look="quiet" onClick={onClear}>
        Clear (Esc)
      </Button>
    </div>
  );
}
