"use strict";
/* Sorting, filtering and the theme. The page is whole without it. */
(function () {
	const root = document.documentElement;
	root.classList.remove("no-script");

	const button = document.getElementById("theme");
	const dark = () => root.dataset.theme
		? root.dataset.theme === "dark"
		: matchMedia("(prefers-color-scheme: dark)").matches;
	const name = () => {
		button.textContent = dark() ? "Light theme" : "Dark theme";
	};
	button.addEventListener("click", () => {
		root.dataset.theme = dark() ? "light" : "dark";
		name();
	});
	name();

	/* Numbers by data-v, text as people sort it. */
	const key = (row, column) => {
		const cell = row.cells[column];
		return cell.dataset.v !== undefined
			? parseFloat(cell.dataset.v) : cell.textContent.trim();
	};
	const compare = (a, b) => {
		if (typeof a === "number" || typeof b === "number") {
			/* What is unknown comes last, either way. */
			const x = typeof a === "number" && !isNaN(a);
			const y = typeof b === "number" && !isNaN(b);
			return x && y ? a - b : x ? -1 : y ? 1 : 0;
		}
		return a.localeCompare(b, undefined, {numeric: true});
	};
	const sort = (table, head) => {
		const column = head.cellIndex;
		const down = head.getAttribute("aria-sort") === "ascending";
		for (const other of table.tHead.rows[0].cells)
			other.removeAttribute("aria-sort");
		head.setAttribute("aria-sort",
			down ? "descending" : "ascending");
		const body = table.tBodies[0];
		const rows = Array.from(body.rows, (row, order) =>
			({row, order, key: key(row, column)}));
		rows.sort((a, b) => {
			const unknown = (k) =>
				typeof k === "number" && isNaN(k);
			const order = compare(a.key, b.key);
			if (unknown(a.key) || unknown(b.key))
				return order || a.order - b.order;
			return (down ? -order : order) || a.order - b.order;
		});
		body.append(...rows.map((entry) => entry.row));
	};
	for (const table of document.querySelectorAll("table.sortable"))
		for (const head of table.tHead.rows[0].cells)
			head.querySelector("button").addEventListener("click",
				() => sort(table, head));

	/* Every control of a table narrows it; all must agree. */
	for (const controls of document.querySelectorAll("[data-for]")) {
		const table = document.getElementById(controls.dataset.for);
		const status = controls.querySelector("[role=status]");
		const text = controls.querySelector("input[type=search]");
		const choice = controls.querySelector("select");
		const box = controls.querySelector("input[type=checkbox]");
		const apply = () => {
			const words = text
				? text.value.toLowerCase().split(/\s+/)
					.filter(Boolean) : [];
			let shown = 0;
			for (const row of table.tBodies[0].rows) {
				const hay = row.textContent.toLowerCase();
				const fits = words.every((w) => hay.includes(w)) &&
					(!choice || !choice.value ||
						row.dataset.k === choice.value) &&
					(!box || !box.checked ||
						row.classList.contains("differs"));
				row.hidden = !fits;
				shown += fits;
			}
			status.textContent = shown + " of " +
				table.tBodies[0].rows.length + " rows";
		};
		for (const control of [text, choice, box])
			if (control)
				control.addEventListener("input", apply);
		apply();
	}
})();
