import {
  Activity,
  CircleDollarSign,
  Folders,
  GitMerge,
  HeartPulse,
  LayoutDashboard,
  ListTree,
  type LucideIcon,
  Mail,
  MessagesSquare,
  ScanSearch,
  Settings,
} from "lucide-react";

export interface PageEntry {
  readonly path: string;
  readonly title: string;
  /** The letter behind `g`. */
  readonly letter: string;
  readonly icon: LucideIcon;
  /** Groups of the rail are divided by a line. */
  readonly group: 1 | 2 | 3;
}

/** The pages in the order of the rail. The rail, the palette and the keys are made of this table. */
export const pages: readonly PageEntry[] = [
  { path: "/", title: "Overview", letter: "o", icon: LayoutDashboard, group: 1 },
  { path: "/coordinator", title: "Coordinator", letter: "c", icon: MessagesSquare, group: 1 },
  { path: "/fleet", title: "Fleet", letter: "f", icon: ListTree, group: 1 },
  { path: "/merge", title: "Merge", letter: "m", icon: GitMerge, group: 1 },
  { path: "/review", title: "Review", letter: "r", icon: ScanSearch, group: 1 },
  { path: "/mail", title: "Mail", letter: "l", icon: Mail, group: 1 },
  { path: "/tasks", title: "Tasks", letter: "t", icon: Folders, group: 1 },
  { path: "/runs", title: "Runs", letter: "u", icon: Activity, group: 2 },
  { path: "/costs", title: "Costs", letter: "b", icon: CircleDollarSign, group: 2 },
  { path: "/health", title: "Health", letter: "h", icon: HeartPulse, group: 3 },
  { path: "/settings", title: "Settings", letter: "s", icon: Settings, group: 3 },
];
