/** Pages of the site and the sections of its sidebar. */

export interface Page {
  /** Its folder on the site, without slashes at the ends: `api/accp/session`. */
  readonly path: string;
  /** Links to files of the repository are `repo:PATH`. */
  readonly markdown: string;
  /** The files that it is made from: links to these lead to the page. */
  readonly sources?: readonly Source[];
}

export interface Source {
  /** The path of a Markdown file of the repository. */
  readonly file: string;
  /** The anchor in the file, where the page shows a part of it. */
  readonly anchor?: string;
}

export interface SidebarItem {
  readonly text: string;
  readonly link?: string;
  readonly items?: readonly SidebarItem[];
  readonly collapsed?: boolean;
}

/** Pages and their part of the sidebar. */
export interface Part {
  readonly pages: readonly Page[];
  readonly sidebar: readonly SidebarItem[];
}

export function linkTo(path: string): string {
  return path === '' ? '/' : `/${path}/`;
}
