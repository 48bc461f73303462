/** The use cases about the merge queue, loaded when called. */
export const mergeUseCases = {
  "merge.list": async () => (await import("./read-merges.ts")).listMerges,
  "merge.show": async () => (await import("./read-merges.ts")).showMerge,
  "merge.log": async () => (await import("./read-merges.ts")).mergeLog,
  "merge.radar": async () => (await import("./radar.ts")).readRadar,
  "merge.preview": async () => (await import("./preview-entry.ts")).previewMerge,
  "merge.landings": async () => (await import("./preview-entry.ts")).landingsOf,
  "merge.add": async () => (await import("./add-entry.ts")).addMerge,
  "merge.approve": async () => (await import("./approve-entry.ts")).approveMerge,
  "merge.reject": async () => (await import("./reject-entry.ts")).rejectMerge,
  "merge.cancel": async () => (await import("./cancel-entry.ts")).cancelMerge,
  "merge.retry": async () => (await import("./retry-entry.ts")).retryMerge,
  "merge.resume": async () => (await import("./retry-entry.ts")).resumeMerge,
  "merge.undo-plan": async () => (await import("./request-undo.ts")).planUndo,
  "merge.request-undo": async () => (await import("./request-undo.ts")).requestUndo,
  "merge.promotion-doubts": async () => (await import("./request-promote.ts")).promotionDoubts,
  "merge.request-promote": async () => (await import("./request-promote.ts")).requestPromote,
} as const;
