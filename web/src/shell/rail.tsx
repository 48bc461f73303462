import { Link, useLocation } from "@tanstack/react-router";
import { Ellipsis, Inbox } from "lucide-react";
import { useAttention, useOverview, useReviews } from "../api/resources.ts";
import type { Overview } from "../api/types.ts";
import { useIsTablet } from "../state/media.ts";
import { useSettings } from "../state/settings.ts";
import { useGo, useUrl } from "../state/url.ts";
import { Menu } from "../ui/overlays.tsx";
import { type PageEntry, pages } from "./pages.ts";
import { openPanel } from "./panels.ts";
import css from "./rail.module.css";

/** Counts stand beside a page only when they mean work for a person. */
function useCounts(): Readonly<Record<string, number>> {
  const { data: overview } = useOverview();
  const { data: reviews } = useReviews();
  return {
    "/merge": overview?.merges.waitingForApproval.length ?? 0,
    "/mail": unanswered(overview),
    "/review": reviews?.items.filter(({ needsOperator }) => needsOperator).length ?? 0,
  };
}

/** What agents asked the operator and got no answer to. Branches that wait for approval are counted beside Merge. */
export const unanswered = (overview: Overview | undefined): number =>
  (overview?.questions.length ?? 0) + (overview?.decisions?.filter(({ kind }) => kind === "decision").length ?? 0);

export function Rail() {
  const { railNarrow } = useSettings();
  const isNarrow = useIsTablet() || railNarrow;
  const counts = useCounts();
  return (
    <nav className={css.rail} data-narrow={isNarrow || undefined} data-region="rail" aria-label="Pages">
      {pages.map((page, at) => (
        <RailLink
          key={page.path}
          page={page}
          count={counts[page.path] ?? 0}
          isFirstOfGroup={at > 0 && pages[at - 1]?.group !== page.group}
        />
      ))}
    </nav>
  );
}

function RailLink({ page, count, isFirstOfGroup }: { page: PageEntry; count: number; isFirstOfGroup: boolean }) {
  const isHere = useIsHere(page.path);
  const { search } = useUrl();
  const Icon = page.icon;
  return (
    <Link
      to={page.path as never}
      search={(search.run === undefined ? {} : { run: search.run }) as never}
      className={css.link}
      data-first={isFirstOfGroup || undefined}
      aria-current={isHere ? "page" : undefined}
      title={page.title}
    >
      <Icon aria-hidden />
      <span>{page.title}</span>
      {count === 0 ? null : (
        <b>
          {count}
          <span className="visually-hidden"> waiting for you</span>
        </b>
      )}
    </Link>
  );
}

function useIsHere(path: string): boolean {
  const { pathname } = useLocation();
  if (path === "/fleet" && pathname.startsWith("/agents/")) return true;
  return path === "/" ? pathname === "/" : pathname === path || pathname.startsWith(`${path}/`);
}

const onPhone = ["/fleet", "/merge", "/mail"];

/** The pages in reach of a thumb. */
export function BottomBar() {
  const counts = useCounts();
  const { data: attention } = useAttention();
  const go = useGo();
  const open = attention?.items.length ?? 0;
  const rest = pages.filter(({ path }) => path !== "/" && !onPhone.includes(path));
  const isHome = useIsHere("/");
  return (
    <nav className={css.bottom} aria-label="Pages">
      <Link to="/" aria-current={isHome ? "page" : undefined}>
        <Inbox aria-hidden />
        <span>Inbox{open === 0 ? "" : ` ${open}`}</span>
      </Link>
      {pages
        .filter(({ path }) => onPhone.includes(path))
        .map((page) => (
          <RailLink key={page.path} page={page} count={counts[page.path] ?? 0} isFirstOfGroup={false} />
        ))}
      <Menu
        label="More pages"
        items={[
          ...rest.map(({ title, path }) => ({ label: title, run: () => go(path) })),
          undefined,
          { label: "Search and actions", run: () => openPanel("palette") },
          { label: "Switch run", run: () => openPanel("runs") },
        ]}
      >
        <button type="button">
          <Ellipsis aria-hidden />
          <span>More</span>
        </button>
      </Menu>
    </nav>
  );
}
