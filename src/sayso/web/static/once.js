// A page that answers a form is, when it is loaded again, the page that the form stood on: what it shows is shown once, and
// the form is not sent a second time.

history.replaceState(null, "", `settings${location.hash}`);
document.querySelector(".skip").href = "settings#main";
