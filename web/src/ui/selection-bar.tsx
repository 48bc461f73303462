import type { ReactNode } from "react";
import { Button } from "./controls.tsx";
import css from "./selection-bar.module.css";

interface Given {
  readonly count: number;
  readonly onClear: () => void;
  readonly children: ReactNode;
}

/** What can be done with the rows that are chosen, below their grid. */
export const SelectionBar = ({ count, onClear, children }: Given) =>
  count === 0 ? null : (
    <div className={css.bar}>
      <span>{count} selected</span>
      {children}
      <Button look="quiet" onClick={onClear}>
        Clear (Esc)
      </Button>
    </div>
  );
