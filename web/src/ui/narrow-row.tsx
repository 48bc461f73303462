import type { ReactNode } from "react";
import css from "./narrow-row.module.css";

/** A row of a grid on a narrow screen: name and state, and below them two more facts or one of the whole width. */
export const NarrowRow = ({ children }: { children: ReactNode }) => <div className={css.row}>{children}</div>;
