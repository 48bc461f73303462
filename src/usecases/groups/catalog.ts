/** The use cases about groups of tasks, loaded when called. */
export const groupUseCases = {
  "group.create": async () => (await import("./create-group.ts")).createGroup,
  "group.status": async () => (await import("./read-groups.ts")).groupStatus,
  "group.add": async () => (await import("./change-members.ts")).addMembers,
  "group.remove": async () => (await import("./change-members.ts")).removeMembers,
  "group.list": async () => (await import("./read-groups.ts")).listGroups,
} as const;
