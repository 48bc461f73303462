import type { ReactNode } from "react";
import css from "./table.module.css";

/** A short table of the whole width, for what needs no grid. */
export const Table = ({ children }: { children: ReactNode }) => <table className={css.table}>{children}</table>;
